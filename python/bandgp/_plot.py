# SPDX-License-Identifier: Apache-2.0
"""Pictures with matplotlib, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _inputs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._gp import GP

MOST_POINTS = 20_000  # drawn one by one; beyond, every so many


def plot(gp: GP, ax: Optional[Axes], t: Any, data: bool) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("GP.plot needs matplotlib: pip install matplotlib (GP.report writes a page without it)",
                          name=error.name) from error
    if ax is None:
        ax = plt.figure(figsize=(9, 4), layout="constrained").add_subplot()
    series = gp._fit.series
    times = gp._fit.curve_times() if t is None else np.sort(_inputs.times_on(series.axis, t))
    times = times[:: max(1, len(times) // MOST_POINTS)]
    mean, variance, _ = gp._fit.predict(times, True)
    std = np.sqrt(np.maximum(variance, 0))
    shown = _inputs.to_dates(series.axis, times)
    if data and series.observations:
        step = max(1, series.observations // MOST_POINTS)
        at = _inputs.to_dates(series.axis, series.times)[::step]
        label = "data" if step == 1 else f"data, every {step}th"
        ax.plot(at, series.values[::step], ".", color="0.55", markersize=2.5, label=label, zorder=1)
    ax.fill_between(shown, mean - 1.96 * std, mean + 1.96 * std, color="C0", alpha=0.25, linewidth=0, label="95 %")
    ax.plot(shown, mean, color="C0", linewidth=1.2, label="curve", zorder=3)
    if series.axis.unit and not series.axis.is_calendar:
        ax.set_xlabel(f"time [{series.axis.unit}]")
    ax.legend(loc="best", frameon=False)
    return ax
