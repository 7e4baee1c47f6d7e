# SPDX-License-Identifier: Apache-2.0
import bandgp

from problem import Fitted

PACKAGES = ("bandgp", "numpy")


def _fit(problem, kernel="se", method="auto"):
    start = {"variance": problem.variance, "lengthscale": problem.lengthscale, "noise": problem.noise}
    gp = bandgp.GP(kernel, mean="zero", method=method, init=start if kernel == "se" else None, threads=1)
    gp.fit(problem.t, problem.y)

    def covariance():
        return gp.predict(problem.t_new, return_cov=True, observed=True)

    return Fitted(gp.nll_, dict(gp.parameters_), lambda: gp.predict(problem.t_new, return_std=True, observed=True),
                  covariance=covariance, evaluations=gp.evaluations_)


def auto(problem):
    return _fit(problem)


def dual(problem):
    return _fit(problem, method="dual")


def band(problem):
    return _fit(problem, method="band")


def sum_of_two(problem):
    return _fit(problem, kernel="se + se")
