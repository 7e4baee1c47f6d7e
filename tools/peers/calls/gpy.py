# SPDX-License-Identifier: Apache-2.0
import GPy
import numpy as np

from given import STOPPING
from problem import Fitted

PACKAGES = ("GPy", "numpy", "scipy")


def state_space(problem):
    """The SE kernel as a state-space model of finite order: an approximation of it (balanced, 10 terms)."""
    kernel = GPy.kern.sde_RBF(1, variance=problem.variance, lengthscale=problem.lengthscale, balance=True, approx_order=10)
    model = GPy.models.StateSpace(problem.t[:, None], problem.y[:, None], kernel, noise_var=problem.noise,
                                  kalman_filter_type="svd")
    model.optimize("lbfgsb", max_iters=STOPPING["maxiter"])

    def predict():
        mean, variance = model.predict(problem.t_new[:, None])
        return mean[:, 0], np.sqrt(variance[:, 0])

    def nll_of_all():
        t, y = np.append(problem.t, problem.t_new), np.append(problem.y, problem.y_new)
        order = np.argsort(t)
        whole = GPy.models.StateSpace(t[order, None], y[order, None], kernel.copy(), kalman_filter_type="svd",
                                      noise_var=float(model.Gaussian_noise.variance[0]))
        return -np.asarray(whole.log_likelihood()).item()

    return Fitted(-np.asarray(model.log_likelihood()).item(),
                  {"variance": float(kernel.variance[0]), "lengthscale": float(kernel.lengthscale[0]),
                   "noise": float(model.Gaussian_noise.variance[0])}, predict, nll_of_all=nll_of_all)
