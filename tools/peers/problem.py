# SPDX-License-Identifier: Apache-2.0
"""What every peer is given, and what it gives back. Needs NumPy only: it is imported in every environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from given import START

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """What given.py says in words."""

    t: Array
    y: Array
    t_new: Array
    y_new: Array
    scale: float  # deviation of the training values: results are told in their units
    variance: float = START["variance"]
    lengthscale: float = START["lengthscale"]
    noise: float = START["noise"]

    @property
    def start(self) -> Array:
        return np.log([self.variance, self.lengthscale, self.noise])


@dataclass
class Fitted:
    """A trained peer, in the units of the problem. Variances are of observations: noise included."""

    nll: float
    parameters: dict[str, float]
    predict: Callable[[], tuple[Array, Array]]  # mean and deviation at t_new
    covariance: Optional[Callable[[], tuple[Array, Array]]] = None  # mean and covariance at t_new
    nll_of_all: Optional[Callable[[], float]] = None  # at these parameters, with what was held out
    evaluations: Optional[int] = None


def read_problem(train: str, test: str) -> Problem:
    (t, y), (t_new, y_new) = (np.loadtxt(file, delimiter=",", skiprows=1, unpack=True) for file in (train, test))
    gap = (t[-1] - t[0]) / (len(t) - 1)
    mean, scale = y.mean(), y.std()
    return Problem((t - t[0]) / gap, (y - mean) / scale, (t_new - t[0]) / gap, (y_new - mean) / scale, float(scale))


def scores(problem: Problem, mean: Array, std: Array) -> dict[str, float]:
    """In the units of the data."""
    error = problem.y_new - mean
    marginal = 0.5 * np.mean((error / std) ** 2 + np.log(2 * np.pi * std**2)) + np.log(problem.scale)
    return {"nmse": float(np.mean(error**2) / np.var(problem.y_new)), "nlpd_marginal": float(marginal)}


def joint_nlpd(problem: Problem, fitted: Fitted) -> Optional[float]:
    """−log p of all that was held out together, in nats and in the units of the data."""
    m, units = len(problem.y_new), len(problem.y_new) * np.log(problem.scale)
    if fitted.covariance is not None:
        mean, covariance = fitted.covariance()
        factor = np.linalg.cholesky(covariance)
        white = np.linalg.solve(factor, problem.y_new - mean)
        return float(0.5 * white @ white + np.log(np.diag(factor)).sum() + 0.5 * m * np.log(2 * np.pi) + units)
    if fitted.nll_of_all is not None:  # p(new | old) = p(new, old) / p(old)
        return float(fitted.nll_of_all() - fitted.nll + units)
    return None
