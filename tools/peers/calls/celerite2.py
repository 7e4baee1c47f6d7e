# SPDX-License-Identifier: Apache-2.0
import celerite2
import numpy as np
from celerite2 import terms

from problem import Fitted
from search import minimise

PACKAGES = ("celerite2", "numpy", "scipy")


def matern32(problem):
    def process(theta, t):
        variance, lengthscale, noise = np.exp(theta)
        gp = celerite2.GaussianProcess(terms.Matern32Term(sigma=np.sqrt(variance), rho=lengthscale))
        gp.compute(t, diag=np.full(len(t), noise))
        return gp

    def loss(theta):
        try:
            return -process(theta, problem.t).log_likelihood(problem.y)
        except celerite2.driver.LinAlgError:
            return 1e25

    found = minimise(loss, problem.start, with_gradient=False)  # its gradients need PyMC or JAX
    noise = np.exp(found.x[2])

    def predict():
        mean, variance = process(found.x, problem.t).predict(problem.y, t=problem.t_new, return_var=True)
        return mean, np.sqrt(variance + noise)

    def nll_of_all():
        t, y = np.append(problem.t, problem.t_new), np.append(problem.y, problem.y_new)
        order = np.argsort(t)
        return -process(found.x, t[order]).log_likelihood(y[order])

    return Fitted(float(found.fun), dict(zip(("variance", "lengthscale", "noise"), np.exp(found.x).tolist())), predict,
                  nll_of_all=nll_of_all, evaluations=found.nfev)
