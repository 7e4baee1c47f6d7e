# SPDX-License-Identifier: Apache-2.0
"""What comes back: plain records with names, and the errors and warnings of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FitWarning(UserWarning):
    """A fit that did not converge, is not certified, will take long, or leaves rows out that are not finite."""


class NotFittedError(ValueError, AttributeError):
    """Asked of a GP before fit()."""


@dataclass(frozen=True)
class Certificate:
    """Bounds on the distance to the dense, exact Gaussian process, for what was left out of the matrix."""

    positive_definite: bool
    rho: float
    nll_error: float
    mean_error: float
    variance_error: float

    @property
    def holds(self) -> bool:
        return self.positive_definite and bool(np.isfinite(self.nll_error))

    def __str__(self) -> str:
        if not self.positive_definite:
            return "no certificate: the banded covariance is not positive definite"
        if not self.holds:
            return 'no certificate: the band leaves out too much for any bound; widen it, or leave it to bandwidth="auto"'
        if self.rho == 0:
            return "nothing was left out of the covariance: this is the exact GP"
        return (f"the exact GP's NLL is within {_up(self.nll_error)} nats of this one, its curve within "
                f"{_up(self.mean_error)} and its variance within {_up(self.variance_error)} throughout the span of the data")


@dataclass(frozen=True)
class LeaveOneOut:
    """Every observation predicted from all the others, in the order of the rows given (NaN: a row not used)."""

    mean: Array
    std: Array  # of the observation itself, its own error included
    standardised: Array  # (y − mean) / std
    nmse: float
    nlpd: float
    coverage_95: float


@dataclass(frozen=True)
class Forecast:
    """The curve after the data: times (datetime64 for dates), mean and standard deviations."""

    time: NDArray[Any]
    mean: Array
    std: Array  # of the curve
    std_observed: Array  # of a new observation


@dataclass(frozen=True)
class Evaluation:
    """One evaluation at given parameters."""

    nll: float
    gradient: dict[str, float]  # by log_variance, log_lengthscale, log_noise
    certificate: Optional[Certificate]
    method: str
    bandwidth: Optional[int]  # of the banded matrix in use; None where there is none
    reach: float
    condition: float
    rounding: float
    evaluation_seconds: float


def certificate_of(numbers: Any) -> Optional[Certificate]:
    return None if numbers is None else Certificate(*numbers)


def _up(value: float) -> str:
    """Two digits, rounded up: what is printed still is a bound."""
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    unit = 10.0 ** (np.floor(np.log10(value)) - 1)
    return f"{np.ceil(value / unit * (1 - 1e-12)) * unit:.2g}"
