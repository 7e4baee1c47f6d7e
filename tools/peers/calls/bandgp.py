# SPDX-License-Identifier: Apache-2.0
import bandgp
import numpy as np

from problem import Fitted

PACKAGES = ("bandgp", "numpy")


def _fit(problem, kernel="se", method="auto"):
    start = {"variance": problem.variance, "lengthscale": problem.lengthscale, "noise": problem.noise}
    gp = bandgp.GP(kernel, mean="zero", method=method, init=start if kernel == "se" else None, threads=1)
    gp.fit(problem.t, problem.y)

    def nll_of_all():  # in any order: it sorts
        t, y = np.append(problem.t, problem.t_new), np.append(problem.y, problem.y_new)
        return bandgp.nll(t, y, kernel=gp.kernel_, noise=gp.noise_, mean="zero", method=method, tolerance=1e-5, threads=1).nll

    return Fitted(gp.nll_, dict(gp.parameters_), lambda: gp.predict(problem.t_new, return_std=True, observed=True),
                  nll_of_all=nll_of_all, evaluations=gp.evaluations_)


def auto(problem):
    return _fit(problem)


def dual(problem):
    return _fit(problem, method="dual")


def band(problem):
    return _fit(problem, method="band")


def sum_of_two(problem):
    return _fit(problem, kernel="se + se")
