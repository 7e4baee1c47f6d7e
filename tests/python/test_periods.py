# SPDX-License-Identifier: Apache-2.0
"""Periods: the same as the command line's, and durations in kernels."""

import numpy as np
import pytest

import bandgp


def test_the_command_line_finds_the_same(cli, root, sunspots):
    told = cli("period", root / "data" / "sunspots.csv", "--json", "--longest", "50")
    table = sunspots
    for found in (bandgp.periodogram(table, longest=50), bandgp.periodogram(table.time, table.value, longest=50.0)):
        assert [peak.period for peak in found.peaks] == [peak["period"] for peak in told["peaks"]]
        assert [peak.log10_false_alarm for peak in found.peaks] == [peak["log10_false_alarm"] for peak in told["peaks"]]
        assert len(found.frequency) == told["frequencies"]["count"] == len(found.power) == len(found.noise) == len(found.rest)
        assert found.time_unit == "" and found.period[0] == 1 / found.frequency[0]


def dated():
    draw = np.random.default_rng(1)
    hours = np.arange(24 * 40)
    t = np.datetime64("2024-01-01T00", "h") + hours
    return t, 2 * np.sin(2 * np.pi * hours / 24) + 0.3 * draw.normal(size=len(hours))


def test_dates_and_durations():
    t, y = dated()
    found = bandgp.periodogram(t, y, shortest="6h", longest="10d", time_unit="h")
    assert found.time_unit == "h" and abs(found.peaks[0].period - 24) < 0.05
    assert found.period[-1] >= 6 * (1 - 1e-9) and found.period[0] <= 240 * (1 + 1e-9)
    in_words = bandgp.GP("matern32*cos(period=1d)", time_unit="h", standard_errors=False).fit(t, y)
    in_hours = bandgp.GP("matern32*cos(period=24)", time_unit="h", standard_errors=False).fit(t, y)
    assert in_words.nll_ == in_hours.nll_ and "24" in in_words.kernel_
    found = bandgp.GP("matern32*cos", time_unit="h", standard_errors=False).fit(t, y)
    assert abs(found.parameters_["period"] - 24) < 0.1


def test_mistakes():
    t, y = dated()
    with pytest.raises(ValueError, match="false_alarm"):
        bandgp.periodogram(t, y, false_alarm=1)
    with pytest.raises(ValueError, match="mean is constant or linear"):
        bandgp.periodogram(t, y, mean="zero")
    with pytest.raises(ValueError, match="plain numbers"):
        bandgp.periodogram(np.arange(len(y)), y, shortest="6h")
    with pytest.raises(ValueError, match="plain numbers"):
        bandgp.GP("sho(period=6h)").fit(np.arange(len(y)), y)
    assert bandgp.periodogram([1, 2, 3], [1, 2, 1]).peaks == ()
