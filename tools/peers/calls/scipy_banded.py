# SPDX-License-Identifier: Apache-2.0
"""The script that people write: a band of fixed width, and hope."""

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from problem import Fitted
from search import minimise

PACKAGES = ("scipy", "numpy")
NEIGHBOURS = 64


def script(problem):
    t, y, n = problem.t, problem.y, len(problem.t)
    k = min(NEIGHBOURS, n - 1)

    def factor(theta):
        variance, lengthscale, noise = np.exp(theta)
        band = np.zeros((k + 1, n))
        for lag in range(k + 1):
            band[lag, : n - lag] = variance * np.exp(-0.5 * ((t[lag:] - t[: n - lag]) / lengthscale) ** 2)
        band[0] += noise
        return cholesky_banded(band, lower=True)

    def loss(theta):
        try:
            L = factor(theta)
        except np.linalg.LinAlgError:
            return 1e25
        return 0.5 * y @ cho_solve_banded((L, True), y) + np.log(L[0]).sum() + 0.5 * n * np.log(2 * np.pi)

    found = minimise(loss, problem.start, with_gradient=False)
    L = factor(found.x)
    variance, lengthscale, noise = np.exp(found.x)

    def kernel(a, b):
        return variance * np.exp(-0.5 * ((a[:, None] - b) / lengthscale) ** 2)

    def predict():
        alpha, mean, explained = cho_solve_banded((L, True), y), [], []
        for part in np.array_split(problem.t_new, -(-len(problem.t_new) // 50)):
            cross = kernel(t, part)
            mean.append(alpha @ cross)
            explained.append(np.sum(cross * cho_solve_banded((L, True), cross), axis=0))
        return np.concatenate(mean), np.sqrt(variance + noise - np.concatenate(explained))

    def covariance():
        cross, new = kernel(t, problem.t_new), problem.t_new
        solved = cho_solve_banded((L, True), cross)
        return y @ solved, kernel(new, new) + noise * np.eye(len(new)) - cross.T @ solved

    return Fitted(float(found.fun), {"variance": variance, "lengthscale": lengthscale, "noise": noise}, predict,
                  covariance=covariance if n <= 200_000 else None, evaluations=found.nfev)
