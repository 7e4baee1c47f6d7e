# SPDX-License-Identifier: Apache-2.0
"""The Gaussian process: options in the constructor, fit(), and what can be asked of a fit."""

from __future__ import annotations

import copy
import inspect
import json
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from . import _core, _inputs
from ._options import assignments, make_cut, positive, thread_count, told_by, whole
from ._progress import Progress
from ._results import Array, Certificate, FitWarning, Forecast, LeaveOneOut, NotFittedError, certificate_of
from ._tools import Table, series_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class GP:
    """Gaussian-process regression on one long series.

    kernel       a sum of terms, such as "se", "se + matern12", "2.5*se(lengthscale=3)"; values are starting values
    tolerance    distance from the exact model's NLL that is allowed, in nats
    mean         "zero", "constant" or "linear"; its coefficients are estimated
    method       "auto" (the cheapest exact form at each step), "band", "dual", "exact", "fitc", "vfe", "taper",
                 "vecchia"
    bandwidth    "auto" (what tolerance needs), "corollary", "theorem", "lemma" or a number of neighbours
    reach        keep the covariance of points closer than this instead
    inducing, move_inducing           fitc, vfe: inducing inputs, and whether their places are trained
    neighbours, taper_range, taper    vecchia: points before; taper: points a side, or the range; "c0", "c2", "c4"
    thin         drop points closer than this to the one before
    init, fix    parameter name → starting value, or value that is not trained: {"noise": 0.1}
    time_unit    for dates: "s", "min", "h", "d" or "y"; by default one that is easy to read
    threads      of which up to two are used (default: one for each processor); results do not depend on it
    progress     show it (default: on a terminal, and in a notebook that has tqdm, once a fit takes more than a second)

    After fit(): variance_, lengthscale_, noise_, parameters_, standard_errors_, kernel_, mean_, nll_, certificate_,
    status_, message_, method_, bandwidth_, reach_, condition_, rounding_, evaluations_, seconds_, series_, remarks_,
    trace_, times_. All are in the units of the data.
    """

    def __init__(self, kernel: str = "se", *, tolerance: float = 0.01, mean: str = "constant", method: str = "auto",
                 bandwidth: Union[str, int] = "auto", reach: Optional[float] = None, inducing: Optional[int] = None,
                 move_inducing: bool = False, neighbours: Optional[int] = None, taper_range: Optional[float] = None,
                 taper: Optional[str] = None, thin: Optional[float] = None, init: Optional[Mapping[str, float]] = None,
                 fix: Optional[Mapping[str, float]] = None, time_unit: Optional[str] = None,
                 threads: Optional[int] = None, max_evaluations: int = 200, standard_errors: bool = True,
                 max_bytes: Optional[float] = None, progress: Optional[bool] = None) -> None:
        self.kernel = kernel
        self.tolerance = tolerance
        self.mean = mean
        self.method = method
        self.bandwidth = bandwidth
        self.reach = reach
        self.inducing = inducing
        self.move_inducing = move_inducing
        self.neighbours = neighbours
        self.taper_range = taper_range
        self.taper = taper
        self.thin = thin
        self.init = init
        self.fix = fix
        self.time_unit = time_unit
        self.threads = threads
        self.max_evaluations = max_evaluations
        self.standard_errors = standard_errors
        self.max_bytes = max_bytes
        self.progress = progress
        self._zone: Any = None  # of the dates given; the library has them in UTC
        self._fitted: Optional[_core.Fitted] = None
        self._loss: Optional[_core.Loss] = None

    # --- training ---------------------------------------------------------------------------------------------------

    def fit(self, t: Any, y: Any = None, yerr: Any = None) -> GP:
        """Train on values `y` at times `t`, with known standard errors `yerr` (one number counts for all); returns self.

        `t` may be numbers or dates in a list, NumPy, pandas, polars or Arrow; a pandas Series alone has its times in
        its index; a Table from read_table() has all. Rows that are not finite are left out with a warning, unsorted
        times sorted, equal times merged: `series_` counts them. Ctrl-C raises KeyboardInterrupt; the best so far is kept.
        """
        if not isinstance(self.kernel, str):
            raise TypeError(f'kernel is {self.kernel!r}, must be text such as "se + matern12"')
        _core.parameter_names(self.kernel)
        cut = make_cut(kernel=self.kernel, method=self.method, tolerance=self.tolerance, bandwidth=self.bandwidth,
                       reach=self.reach, inducing=self.inducing, move_inducing=self.move_inducing,
                       neighbours=self.neighbours, taper_range=self.taper_range, taper=self.taper)
        init = assignments("init", self.init, self.kernel)
        fix = assignments("fix", self.fix, self.kernel)
        for name in sorted(set(init) & set(fix)):
            raise ValueError(f"{name} is in init and in fix; only one can hold")
        thin = 0.0 if self.thin is None else positive("thin", self.thin)
        series = series_of(t, y, yerr, self.mean, thin, self.time_unit)
        self._zone = _inputs.zone_of(_inputs.index_of(t) if y is None else t) if series.axis.is_calendar else None
        with Progress(self.progress) as progress:
            fitted, raised = _core.fit(
                series, kernel=self.kernel, mean=self.mean, cut=cut, init=init, fix=fix,
                max_evaluations=whole("max_evaluations", self.max_evaluations),
                standard_errors=bool(self.standard_errors),
                max_bytes=0.0 if self.max_bytes is None else positive("max_bytes", self.max_bytes),
                threads=thread_count(self.threads), progress=progress if progress.wanted else None, announce=_announce)
        if isinstance(t, Table):
            fitted.set_source(t.file, t.time_name, t.value_name, t.bad_lines)
        else:
            fitted.set_source("", _inputs.name_of(_inputs.index_of(t) if y is None else t),
                              _inputs.name_of(t if y is None else y), 0)
        if raised is not None:
            self._take(fitted if np.isfinite(fitted.nll) else None)
            raise raised
        message = fitted.message
        if fitted.status == "not_positive_definite":
            raise LinAlgError(message)
        if fitted.status == "too_large":
            raise MemoryError(message)
        self._take(fitted)
        if fitted.status not in ("converged", "at_bound"):
            warnings.warn(message, FitWarning, stacklevel=2)
        elif not fitted.certified:
            warnings.warn(str(self.certificate_), FitWarning, stacklevel=2)
        return self

    def _take(self, fitted: Optional[_core.Fitted]) -> None:
        self._fitted, self._loss = fitted, None

    @property
    def _fit(self) -> _core.Fitted:
        if self._fitted is None:
            raise NotFittedError("this GP is not fitted yet: call fit(t, y) first")
        return self._fitted

    # --- prediction -------------------------------------------------------------------------------------------------

    @overload
    def predict(self, t: Any, *, return_std: Literal[False] = ..., return_cov: Literal[False] = ...,
                observed: bool = ..., components: bool = ...) -> Array: ...
    @overload
    def predict(self, t: Any, *, return_std: bool = ..., return_cov: bool = ..., observed: bool = ...,
                components: bool = ...) -> Any: ...

    def predict(self, t: Any, *, return_std: bool = False, return_cov: bool = False, observed: bool = False,
                components: bool = False) -> Any:
        """The curve at any times, in any order: its mean; with return_std its standard deviation beside it; with
        return_cov its covariance.

        observed      of a new observation instead of the curve itself: the noise is added
        components    every term of the kernel by itself: arrays of shape (terms, times), without the mean function
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are given; only one can hold")
        times = _inputs.times_on(self._fit.series.axis, t)
        if components:
            if return_cov or observed:
                raise ValueError("components have means and standard deviations only")
            mean, variance = self._fit.components(times)
            return (mean, np.sqrt(np.maximum(variance, 0))) if return_std else mean
        mean, variance, variance_observed = self._fit.predict(times, return_std)
        if return_std:
            return mean, np.sqrt(np.maximum(variance_observed if observed else variance, 0))
        if not return_cov:
            return mean
        covariance = self._fit.covariance(times)
        if observed:
            covariance[np.diag_indices_from(covariance)] += self.noise_
        return mean, covariance

    def forecast(self, horizon: Any, step: Any = None) -> Forecast:
        """What comes after the data: times from the last one on, up to `horizon` later, and the curve there.

        horizon, step   a number in units of time, text such as "48h" (s, min, h, d, y) or a timedelta for dates;
                        by default a step is the data's median spacing
        """
        axis = self._fit.series.axis
        times = self._fit.forecast_times(_inputs.duration(horizon), None if step is None else _inputs.duration(step))
        mean, latent, observed = self._fit.predict(times, True)
        return Forecast(_inputs.to_dates(axis, times), mean, np.sqrt(np.maximum(latent, 0)), np.sqrt(np.maximum(observed, 0)))

    def sample(self, t: Any, n: int = 1, *, seed: int = 0, observed: bool = False) -> Array:
        """`n` draws of the curve given the data, one row each; the same seed gives the same draws."""
        times = _inputs.times_on(self._fit.series.axis, t)
        draws = self._fit.sample(times, whole("n", n), whole("seed", seed))
        if observed:
            draws += np.random.default_rng([1, seed]).normal(0.0, np.sqrt(self.noise_), draws.shape)
        return draws

    def curves(self, n: int = 1, *, seed: int = 0) -> list[_core.Curve]:
        """`n` draws of the whole curve, each a function of time that can be asked anywhere, again and again.

        For kernels whose terms are all se. Their argument is times as numbers (for dates: units since midnight of
        the first day).
        """
        return self._fit.functions(whole("n", n), whole("seed", seed))

    def loo(self) -> LeaveOneOut:
        """Every observation predicted from all the others, in the order of the rows that fit() was given."""
        mean, variance, standardised, nmse, nlpd, coverage = self._fit.leave_one_out()
        series = self._fit.series
        rows, given = series.rows, series.report["rows"]

        def by_row(values: Array) -> Array:
            full = np.full(given, np.nan)
            full[rows] = values
            return full

        return LeaveOneOut(by_row(mean), by_row(np.sqrt(variance)), by_row(standardised), nmse, nlpd, coverage)

    def whitened_residuals(self, *, seed: int = 1) -> Array:
        """One number for each distinct time: independent and standard normal if the model holds."""
        return self._fit.whitened_residuals(whole("seed", seed))

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """−NLL at log parameters `theta` (the order of parameters_), and its gradient; by default at the fit.

        −inf, with a gradient of zeros, where the covariance is singular.
        """
        fitted = self._fit
        if theta is None:
            return (-fitted.nll, -np.array(fitted.gradient)) if eval_gradient else -fitted.nll
        values = np.exp(_inputs.numbers(theta, "theta"))
        if len(values) != len(fitted.parameters):
            raise ValueError(f"theta has {len(values)} values, the model has {len(fitted.parameters)} parameters")
        if not fitted.series.observations:
            raise ValueError("this model holds no data any more (it was saved in its smaller, dual form): fit again")
        if self._loss is None:
            self._loss = _core.Loss(fitted.series, fitted.mean, fitted.cut, thread_count(self.threads))
        kernel = _core.kernel_text(fitted.kernel, values[:-1].tolist())
        nll, gradient, failure = self._loss(kernel, float(values[-1]), bool(eval_gradient))
        if failure == "too_large":
            raise MemoryError("the band does not fit into memory at these parameters")
        if failure:
            nll, gradient = np.inf, np.zeros(len(values))
        return (-nll, -gradient) if eval_gradient else -nll

    # --- in and out -------------------------------------------------------------------------------------------------

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the model to one file, the same that the command line reads and writes. Whole or not at all."""
        self._fit.save(os.fspath(path))

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]], *, threads: Optional[int] = None) -> GP:
        """A model from a file. Long series whose dual is smaller are kept without their data: such a model predicts
        and samples, but has no loo(). Options are those that the file tells: kernel, mean, method and what belongs to it."""
        name = os.fspath(path)
        with open(name, encoding="utf-8", errors="replace") as file:
            return cls._from_text(file.read(), name, threads)

    @classmethod
    def _from_text(cls, text: str, name: str, threads: Optional[int]) -> GP:
        fitted = _core.Fitted.from_text(text, name, thread_count(threads))
        gp = cls(fitted.kernel, mean=fitted.mean, threads=threads, **told_by(json.loads(text)["cut"]))
        gp._take(fitted)
        return gp

    def report(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the report: one HTML page that needs nothing else."""
        target = os.fspath(path)
        self._fit.report(target, f"bandgp.{self._constructor()}.fit(t, y).report({target!r})")

    def to_frame(self, t: Any = None) -> pd.DataFrame:
        """The curve as a pandas DataFrame by time: mean, std_latent, std_observed. By default where an eye needs it,
        in the time zone of the dates given."""
        import pandas as pd

        axis = self._fit.series.axis
        times = self._fit.curve_times() if t is None else _inputs.times_on(axis, t)
        mean, latent, observed = self._fit.predict(times, True)
        index = pd.Index(_inputs.to_dates(axis, times) if t is None else t, name="time")
        zone = self._zone or _inputs.zone_on(axis)
        if t is None and zone is not None:
            index = pd.DatetimeIndex(index).tz_localize("UTC").tz_convert(zone)
        return pd.DataFrame({"mean": mean, "std_latent": np.sqrt(latent), "std_observed": np.sqrt(observed)}, index)

    def plot(self, ax: Optional[Axes] = None, *, t: Any = None, data: bool = True) -> Axes:
        """Draw the data, the curve and its 95 % band with matplotlib; returns the axes."""
        from ._plot import plot

        return plot(self, ax, t, data)

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_loss": None}
        state["_fitted"] = None if self._fitted is None else self._fitted.to_text()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        text = state["_fitted"]
        self._fitted = None if text is None else _core.Fitted.from_text(text, "pickle", thread_count(self.threads))

    def __copy__(self) -> GP:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> GP:
        """A fit never changes: copies share it, with the data that a pickle may leave out."""
        shared = ("_fitted", "_loss")
        twin = self.__copy__()
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items() if name not in shared})
        return twin

    # --- what was found ---------------------------------------------------------------------------------------------

    @property
    def parameters_(self) -> dict[str, float]:
        return dict(zip(_core.parameter_names(self._fit.kernel), self._fit.parameters))

    @property
    def theta_(self) -> Array:
        """The logarithms of the parameters, as log_marginal_likelihood() takes them."""
        with np.errstate(divide="ignore"):
            return np.log(self._fit.parameters)

    @property
    def standard_errors_(self) -> dict[str, float]:
        """NaN where a parameter was fixed, at a bound, or errors were not asked for."""
        return dict(zip(_core.parameter_names(self._fit.kernel), self._fit.standard_errors))

    def _each(self, name: str) -> list[float]:
        """The values of the parameters of this name, term by term."""
        return [value for key, value in self.parameters_.items() if key.split("_")[0] == name]

    @property
    def variance_(self) -> Union[float, Array]:
        """One number, or one for each term."""
        return _one_or_all(self._each("variance"))

    @property
    def lengthscale_(self) -> Union[float, Array]:
        return _one_or_all(self._each("lengthscale"))

    @property
    def noise_(self) -> float:
        """The variance of the noise, known errors apart."""
        return self._fit.parameters[-1]

    @property
    def kernel_(self) -> str:
        return self._fit.kernel

    @property
    def mean_(self) -> Array:
        """The mean function's coefficients: value at time 0, slope."""
        return np.array(self._fit.coefficients)

    @property
    def nll_(self) -> float:
        return self._fit.nll

    @property
    def gradient_(self) -> dict[str, float]:
        return {f"log_{name}": slope for name, slope in zip(self.parameters_, self._fit.gradient)}

    @property
    def certificate_(self) -> Optional[Certificate]:
        """None for fitc, vfe, taper and vecchia, which are other models."""
        return certificate_of(self._fit.certificate)

    @property
    def status_(self) -> str:
        return self._fit.status

    @property
    def message_(self) -> str:
        return self._fit.message

    @property
    def method_(self) -> str:
        """The representation in use: band, dual, markov, elements, or the method that was asked for."""
        return self._fit.method

    @property
    def bandwidth_(self) -> Optional[int]:
        """Of the banded matrix in use; None where there is none."""
        return None if self._fit.method in ("markov", "elements", "columns") else self._fit.bandwidth

    @property
    def reach_(self) -> float:
        return self._fit.reach

    @property
    def condition_(self) -> float:
        return self._fit.condition

    @property
    def rounding_(self) -> float:
        """About how many nats rounding adds to the certificate's error of the NLL; not a bound."""
        return self._fit.rounding

    @property
    def evaluations_(self) -> int:
        return self._fit.evaluations

    @property
    def seconds_(self) -> float:
        return self._fit.seconds

    @property
    def series_(self) -> dict[str, Any]:
        """Rows given, used, dropped, merged, thinned; gaps and ends, in units of `time_unit`."""
        series = self._fit.series
        return {**series.report, "distinct_times": series.distinct_times, "time_unit": series.axis.unit or None}

    @property
    def times_(self) -> NDArray[Any]:
        """The times of the observations used, in order: datetime64 where they were dates, which has no zone: UTC."""
        series = self._fit.series
        return _inputs.to_dates(series.axis, series.times, given=True)

    @property
    def remarks_(self) -> list[str]:
        """What the fit should not be left to say by itself: results that mean less than they look."""
        return self._fit.remarks

    @property
    def trace_(self) -> NDArray[Any]:
        """Every evaluation of the training, as a structured array (pandas.DataFrame(gp.trace_) shows it)."""
        names = _core.parameter_names(self._fit.kernel)
        kind = np.dtype([("evaluation", int), ("stage", int), ("n", int), ("nll", float),
                         *[(name, float) for name in names], ("bandwidth", int), ("seconds", float)])
        # While a sum is searched for, its smaller relatives are tried too: they have fewer parameters.
        return np.array([(e, s, n, nll, *(p if len(p) == len(names) else [np.nan] * len(names)), k, seconds)
                         for e, s, n, nll, p, k, seconds in self._fit.trace], dtype=kind)

    # --- to look at -------------------------------------------------------------------------------------------------

    def _constructor(self) -> str:
        changed = [f"{name}={getattr(self, name)!r}" for name, parameter in inspect.signature(GP).parameters.items()
                   if getattr(self, name) != parameter.default]
        return f"GP({', '.join(changed)})"

    def __repr__(self) -> str:
        if self._fitted is None:
            return self._constructor()
        shown = ", ".join(f"{name} {value:.4g}" for name, value in self.parameters_.items())
        return f"{self._constructor()} fitted to {self.series_['used']} observations: {shown}; NLL {self.nll_:.6g}"

    def summary(self) -> str:
        """A few lines for people."""
        from ._html import summary_rows

        return "\n".join(f"{name:<12} {text}" for name, text in summary_rows(self))

    def _repr_html_(self) -> str:
        from ._html import html

        return html(self)


def _announce(text: str) -> None:
    warnings.warn(text, FitWarning, stacklevel=3)


def _one_or_all(values: list[float]) -> Union[float, Array]:
    return values[0] if len(values) == 1 else np.array(values)
