# SPDX-License-Identifier: Apache-2.0
"""One evaluation, the rules for the bandwidth, series drawn from a model, and files as the command line reads them."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from . import _core, _inputs
from ._options import make_cut, positive, thread_count, whole
from ._results import Array, Evaluation, FitWarning, certificate_of


def kernel_with(kernel: str, variance: Optional[float], lengthscale: Optional[float]) -> str:
    """The text of a kernel of one term with these values, or as it is."""
    if variance is None and lengthscale is None:
        return kernel
    given = {name: positive(name, value) for name, value in (("variance", variance), ("lengthscale", lengthscale))
             if value is not None}
    names = _core.parameter_names(kernel)[:-1]  # all but the noise
    if not given.keys() <= set(names):
        raise ValueError("variance and lengthscale are for a kernel of one term; write them into the kernel")
    if "(" in kernel or "*" in kernel:
        raise ValueError("the kernel has values of its own; give them there, or beside it, not both")
    return _core.kernel_text(kernel, [given.get(name, np.nan) for name in names])


def series_of(t: Any, y: Any, yerr: Any, mean: str, thin: float = 0.0, time_unit: Optional[str] = None) -> _core.Series:
    """(t, y), a pandas Series, or a Table, as the library holds it. Called by what a user calls: warns there."""
    series = _series_of(t, y, yerr, mean, thin, time_unit)
    dropped, rows = series.report["dropped"], series.report["rows"]
    if dropped:
        warnings.warn(f"{dropped} of {rows} rows {'is' if dropped == 1 else 'are'} left out: not all of their numbers are "
                      "finite", FitWarning, stacklevel=3)
    return series


def _series_of(t: Any, y: Any, yerr: Any, mean: str, thin: float, time_unit: Optional[str]) -> _core.Series:
    if isinstance(t, Table):
        if y is not None or yerr is not None or time_unit is not None:
            raise ValueError("a Table has its own values, errors and unit: give it alone")
        return _core.make_series(t.time, t.value, t.variance, t.axis, mean != "zero", thin)
    if y is None:
        index = _inputs.index_of(t)
        if index is None:
            raise ValueError("y is missing: give t and y, or a pandas Series whose index holds the times")
        t, y = index, t
    times, axis = _inputs.new_times(t, time_unit)
    values = _inputs.numbers(y, "y")
    variance = None
    if yerr is not None:
        errors = np.full(len(values), float(yerr)) if np.ndim(yerr) == 0 else _inputs.numbers(yerr, "yerr")
        if np.any(errors < 0):
            place = int(np.flatnonzero(errors < 0)[0])
            raise ValueError(f"yerr[{place}] is {errors[place]}, must not be negative")
        variance = errors**2
    return _core.make_series(times, values, variance, axis, mean != "zero", thin)


def nll(t: Any, y: Any = None, yerr: Any = None, *, kernel: str = "se", noise: float, variance: Optional[float] = None,
        lengthscale: Optional[float] = None, mean: str = "constant", method: str = "auto", tolerance: float = 0.01,
        bandwidth: Union[str, int] = "auto", reach: Optional[float] = None, inducing: Optional[int] = None,
        neighbours: Optional[int] = None, taper_range: Optional[float] = None, taper: Optional[str] = None,
        threads: Optional[int] = None) -> Evaluation:
    """The negative log-likelihood at given parameters: value, gradient, certificate."""
    text = kernel_with(kernel, variance, lengthscale)
    cut = make_cut(kernel=text, method=method, tolerance=tolerance, bandwidth=bandwidth, reach=reach, inducing=inducing,
                   move_inducing=False, neighbours=neighbours, taper_range=taper_range, taper=taper)
    series = series_of(t, y, yerr, mean)
    result = _core.evaluate(series, text, float(noise), mean, cut, thread_count(threads))
    names = [f"log_{name}" for name in _core.parameter_names(text)]
    result["gradient"] = dict(zip(names, result["gradient"].tolist()))
    result["certificate"] = certificate_of(result["certificate"])
    return Evaluation(**result)


def bandwidth(t: Any = None, y: Any = None, yerr: Any = None, *, gap: Optional[float] = None, n: Optional[int] = None,
              kernel: str = "se", variance: Optional[float] = None, lengthscale: Optional[float] = None, noise: float,
              mean: str = "constant", tolerance: float = 0.01) -> dict[str, Any]:
    """How many neighbours each rule keeps, side by side: for data, or for `n` points `gap` apart."""
    text = kernel_with(kernel, variance, lengthscale)
    nats = positive("tolerance", tolerance)
    if t is None:
        if gap is None or n is None:
            raise ValueError("without data both gap and n are needed")
        return _core.bandwidth_on_grid(text, float(noise), positive("gap", gap), whole("n", n), nats)
    if gap is not None or n is not None:
        raise ValueError("data and gap or n are given; only one can hold")
    return _core.bandwidth_on_series(series_of(t, y, yerr, mean), text, float(noise), mean, nats)


def simulate(n: Optional[int] = None, *, t: Any = None, gap: float = 1.0, start: float = 0.0, irregular: bool = False,
             kernel: str = "se", variance: Optional[float] = None, lengthscale: Optional[float] = None,
             noise: float = 0.0, seed: int = 0) -> tuple[Array, Array]:
    """Times and one draw of the model at them, in linear time: at `t`, or at `n` times `gap` apart."""
    text = kernel_with(kernel, variance, lengthscale)
    seed = whole("seed", seed)
    if (t is None) == (n is None):
        raise ValueError("give either n or t")
    if t is not None:
        times = _inputs.numbers(t, "t")
    else:
        times = _core.simulate_times(whole("n", n), positive("gap", gap), float(start), bool(irregular), seed)
    return times, _core.simulate(text, float(noise), times, seed)


@dataclass(frozen=True)
class Table:
    """A file as it was read: nothing sorted or dropped yet. `GP.fit` takes it whole."""

    time: Array  # units of `axis`
    value: Array
    variance: Optional[Array]  # known errors, squared
    time_name: str
    value_name: str
    axis: _core.TimeAxis
    file: str
    bad_lines: int = 0
    unused: tuple[str, ...] = ()

    @property
    def t(self) -> Any:
        """The times as datetime64 where the file has dates, else the numbers."""
        return _inputs.to_dates(self.axis, self.time, given=True)

    @property
    def yerr(self) -> Optional[Array]:
        return None if self.variance is None else np.sqrt(self.variance)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        named = f"{self.value_name or 'values'} against {self.time_name or 'times'}"
        return f"Table({self.file!r}: {len(self)} rows, {named}{'' if self.variance is None else ', with errors'})"


def read_table(path: Union[str, os.PathLike[str]], *, x: Union[str, int] = "", y: Union[str, int] = "",
               yerr: Union[str, int] = "", step: Optional[float] = None, skip_bad: bool = False, time_format: str = "",
               time_unit: str = "", channel: str = "") -> Table:
    """Text, NPY or EDF, gzipped or not, read exactly as the command line does."""
    file = os.fspath(path)
    if file != "-":
        with open(file, "rb"):  # FileNotFoundError and its relatives
            pass
    table = _core.read_table(file, x=str(x), y=str(y), yerr=str(yerr),
                             step=0.0 if step is None else positive("step", step), skip_bad=skip_bad,
                             time_format=time_format, time_unit=time_unit, channel=channel)
    variance = table.variance
    return Table(table.time, table.value, variance if variance.size else None, table.time_name,
                 table.value_name, table.axis, file, table.bad_lines, tuple(table.unused))
