# SPDX-License-Identifier: Apache-2.0
"""The periods of a series: its periodogram, and the peaks that stand out from noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _core
from ._options import positive, whole
from ._results import Array
from ._tools import series_of


@dataclass(frozen=True)
class Peak:
    """An oscillation; times are in the series' unit."""

    period: float
    period_error: float  # standard deviation; of one that wanders, of its centre
    frequency: float
    frequency_error: float
    amplitude: float
    power: float  # share of the variance
    log10_false_alarm: float  # probability that noise makes such a peak
    wanders: bool  # the phase does not keep
    width: float  # of one that wanders, frequency
    harmonic: int
    harmonic_of: Optional[int]  # index of the peak of which it is one
    aliases: tuple[float, ...]  # periods that explain the data nearly as well


@dataclass(frozen=True)
class Periodogram:
    """Power as a share of the variance, what noise has of it, and what the peaks leave."""

    frequency: Array
    power: Array
    noise: Array
    rest: Array
    peaks: tuple[Peak, ...]  # the most powerful first
    sampling_periods: tuple[float, ...]  # after which the times of the observations repeat themselves
    time_unit: str  # of dates: s, min, h, d or y; empty for plain numbers

    @property
    def period(self) -> Array:
        result: Array = 1 / self.frequency
        return result


def periodogram(t: Any, y: Any = None, yerr: Any = None, *, mean: str = "linear",
                shortest: Union[float, str, None] = None, longest: Union[float, str, None] = None,
                false_alarm: float = 1e-3, peaks: int = 16, time_unit: Optional[str] = None) -> Periodogram:
    """What `bandgp period` finds: irregular times, gaps, a trend and known errors are taken as they are.

    `shortest` and `longest` bound the periods that are looked at, as numbers or, for dates, as "24h" or "1y".
    """
    if not 0 < false_alarm < 1:
        raise ValueError(f"false_alarm is {false_alarm}, must be between 0 and 1")
    series = series_of(t, y, yerr, "constant", time_unit=time_unit)

    def bound(name: str, value: Union[float, str, None]) -> Optional[str]:
        return value if value is None or isinstance(value, str) else repr(positive(name, value))

    found = _core.periods(series, mean=mean, shortest=bound("shortest", shortest), longest=bound("longest", longest),
                          false_alarm=float(false_alarm), peaks=whole("peaks", peaks))
    return Periodogram(found["frequency"], found["power"], found["noise"], found["rest"],
                       tuple(Peak(**peak) for peak in found["peaks"]), found["sampling_periods"], series.axis.unit)
