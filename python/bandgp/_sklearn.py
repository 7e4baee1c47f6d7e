# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's interface: GaussianProcessRegressor for one feature and any number of samples."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._gp import GP
from ._results import Array, Certificate, FitWarning
from ._sklearn_kernel import Translation, free_places, translate, with_values

THEIR_ALPHA = 1e-10  # scikit-learn's default, there against rounding


class BandedGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian-process regression with one feature, in linear time, behind scikit-learn's interface.

    kernel          our text ("se + matern12"), or scikit-learn's objects: sums of ConstantKernel * RBF or Matern, and
                    WhiteKernel. Without a WhiteKernel there is no noise but alpha. Their values are not used to start
                    from: the search has starts of its own; those with fixed bounds stay.
    alpha           known variance of every sample, or one for each. The default 1e-10 counts only where the kernel has no noise.
    optimizer       None keeps the kernel's values; anything else trains
    normalize_y     as in scikit-learn; parameters are then those of the normalised values
    mean            "zero" as in scikit-learn, "constant" or "linear"
    random_state    only for sample_y
    n_restarts_optimizer, copy_X_train    for scripts that have them; they change nothing
    tolerance, method, bandwidth, reach, inducing, neighbours, taper_range, threads    as in bandgp.GP

    Predictions are of new observations, noise included, as those of GaussianProcessRegressor with a WhiteKernel.
    """

    def __init__(self, kernel: Union[str, Kernel, None] = "se", *, alpha: Any = THEIR_ALPHA,
                 optimizer: Any = "fmin_l_bfgs_b", n_restarts_optimizer: int = 0, normalize_y: bool = False,
                 copy_X_train: bool = True, random_state: Any = None, mean: str = "zero", tolerance: float = 0.01,
                 method: str = "auto", bandwidth: Union[str, int] = "auto", reach: Optional[float] = None,
                 inducing: Optional[int] = None, neighbours: Optional[int] = None,
                 taper_range: Optional[float] = None, threads: Optional[int] = None) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.mean = mean
        self.tolerance = tolerance
        self.method = method
        self.bandwidth = bandwidth
        self.reach = reach
        self.inducing = inducing
        self.neighbours = neighbours
        self.taper_range = taper_range
        self.threads = threads

    def fit(self, X: Any, y: Any) -> BandedGPRegressor:
        X, y = self._validated(X, y)
        center, scale = 0.0, 1.0
        if self.normalize_y:
            center, scale = float(np.mean(y)), float(np.std(y)) or 1.0
        text, theirs, fix = self._kernel_and_fixed()
        gp = GP(text, mean=self.mean, tolerance=self.tolerance, method=self.method, bandwidth=self.bandwidth,
                reach=self.reach, inducing=self.inducing, neighbours=self.neighbours, taper_range=self.taper_range,
                threads=self.threads, fix=fix, progress=False)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", FitWarning)
            gp.fit(X[:, 0], (y - center) / scale, self._errors(len(y), fix))
        for warning in said:  # as scikit-learn's own estimators call it
            kind = ConvergenceWarning if issubclass(warning.category, FitWarning) else warning.category
            warnings.warn(str(warning.message), kind, stacklevel=2)
        self.gp_ = gp
        self.kernel_ = gp.kernel_ if theirs is None else with_values(self.kernel, theirs, list(gp.parameters_.values()))
        self.log_marginal_likelihood_value_ = gp.log_marginal_likelihood()
        self._y_train_mean, self._y_train_std = center, scale
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        times = self._times(X)
        result = self.gp_.predict(times, return_std=return_std, return_cov=return_cov, observed=True)
        if return_std:
            return self._value(result[0]), result[1] * self._y_train_std
        if return_cov:
            return self._value(result[0]), result[1] * self._y_train_std**2
        return self._value(result)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draws of new observations, of shape (samples of X, n_samples)."""
        times = self._times(X)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        draws = self.gp_.sample(times, n_samples, seed=seed, observed=True)
        return self._value(draws.T)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """At `theta` as kernel_.theta has it: the logarithms of what is free, in the kernel's order. Its gradient likewise.

        For a kernel given as text: of all its parameters, in the order of gp_.parameters_.
        """
        check_is_fitted(self)
        if isinstance(self.kernel_, str):
            return self.gp_.log_marginal_likelihood(theta, eval_gradient)
        places = free_places(self.kernel_)
        if theta is not None:
            given, theta = np.asarray(theta, dtype=float), self.gp_.theta_
            if given.shape != (len(places),):
                raise ValueError(f"theta has the shape {given.shape}, and the kernel has {len(places)} free hyperparameters")
            theta[places] = given
        if not eval_gradient:
            return self.gp_.log_marginal_likelihood(theta)
        value, gradient = self.gp_.log_marginal_likelihood(theta, eval_gradient=True)
        return value, gradient[places]

    @property
    def certificate_(self) -> Optional[Certificate]:
        check_is_fitted(self)
        return self.gp_.certificate_

    def _validated(self, X: Any, y: Any) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        _one_feature(X)
        return X, np.asarray(y, dtype=np.float64)

    def _times(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.ascontiguousarray(validate_data(self, X, dtype=np.float64, reset=False)[:, 0])

    def _value(self, normalised: Array) -> Array:
        return normalised * self._y_train_std + self._y_train_mean if self.normalize_y else normalised

    def _kernel_and_fixed(self) -> tuple[str, Optional[Translation], dict[str, float]]:
        kernel = "se" if self.kernel is None else self.kernel
        if isinstance(kernel, str):
            if self.optimizer is None:
                raise ValueError("optimizer=None keeps the kernel's values, and a text has no noise: give a kernel of "
                                 "scikit-learn, or use bandgp.GP with fix")
            return kernel, None, {}
        theirs = translate(kernel)
        fixed = {name: parameter.value for name, parameter in zip(_core.parameter_names(theirs.text), theirs.parameters)
                 if parameter.fixed or self.optimizer is None}
        return theirs.text, theirs, fixed

    def _errors(self, n: int, fix: dict[str, float]) -> Optional[Array]:
        """Known standard errors, from alpha."""
        if isinstance(self.alpha, Real):
            if self.alpha < 0:
                raise ValueError(f"alpha is {self.alpha}, must not be negative")
            if self.alpha == 0 or (self.alpha == THEIR_ALPHA and fix.get("noise") != 0):
                return None
            return np.full(n, np.sqrt(float(self.alpha)))
        alpha = np.asarray(self.alpha, dtype=float)
        if alpha.shape != (n,):
            raise ValueError(f"alpha must be a scalar or an array with same number of entries as y. ({alpha.shape} != {n})")
        errors: Array = np.sqrt(alpha)
        return errors


def _one_feature(X: Array) -> None:
    if X.shape[1] != 1:
        raise ValueError(f"X has {X.shape[1]} features, and a band needs times: exactly 1 feature. For several, "
                         "scikit-learn's GaussianProcessRegressor is the tool")
