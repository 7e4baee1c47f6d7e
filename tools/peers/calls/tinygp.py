# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import tinygp
from tinygp.kernels import quasisep

from problem import Fitted
from search import minimise

PACKAGES = ("tinygp", "jax", "jaxlib", "numpy", "scipy")
jax.config.update("jax_enable_x64", True)


def matern32(problem):
    def process(theta, t):
        variance, lengthscale, noise = jnp.exp(theta)
        kernel = quasisep.Matern32(scale=lengthscale, sigma=jnp.sqrt(variance))
        return tinygp.GaussianProcess(kernel, t, diag=noise, assume_sorted=True)

    @jax.jit
    def nll(theta, t, y):
        return -process(theta, t).log_probability(y)

    step = jax.jit(jax.value_and_grad(nll))

    def loss(theta):
        value, slope = step(theta, problem.t, problem.y)
        return float(value), np.asarray(slope)

    found = minimise(loss, problem.start, with_gradient=True)

    def predict():
        mean, variance = process(found.x, problem.t).predict(problem.y, problem.t_new, return_var=True)
        return np.asarray(mean), np.sqrt(np.asarray(variance) + np.exp(found.x[2]))

    def nll_of_all():
        t, y = np.append(problem.t, problem.t_new), np.append(problem.y, problem.y_new)
        order = np.argsort(t)
        return float(nll(found.x, t[order], y[order]))

    return Fitted(float(found.fun), dict(zip(("variance", "lengthscale", "noise"), np.exp(found.x).tolist())), predict,
                  nll_of_all=nll_of_all, evaluations=found.nfev)
