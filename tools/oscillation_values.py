#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Likelihoods of oscillating kernels as other packages compute them: the numbers in tests/golden/peer_values_test.cpp.

usage: oscillation_values.py          (needs numpy, scikit-learn, celerite2 and tinygp from PyPI)

Prints one line for each kernel and package: the kernel in this project's grammar, the package with its version, and the
NLL of the series below with noise 0.05 and mean zero. What a package cannot express exactly it is not asked for: celerite2's
Matern32Term is an approximation, so that matern32*cos comes from tinygp.
"""
import math

import celerite2
import jax
import numpy as np
import sklearn
import tinygp
from celerite2 import terms
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern
from tinygp.kernels import quasisep

jax.config.update("jax_enable_x64", True)
NOISE = 0.05
I = np.arange(200)
T = 0.7 * I + 0.3 * np.sin(3.0 * I)
Y = np.sin(0.9 * T) + 0.5 * np.cos(0.31 * I * I)


def by_celerite2(term):
    gp = celerite2.GaussianProcess(term, mean=0.0)
    gp.compute(T, diag=np.full(T.size, NOISE))
    return -gp.log_likelihood(Y)


def by_tinygp(kernel):
    return -float(tinygp.GaussianProcess(kernel, T, diag=NOISE, mean=0.0).log_probability(Y))


def by_scikit_learn(kernel):
    gp = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(T[:, None], Y)
    return -gp.log_marginal_likelihood(gp.kernel_.theta)


def main():
    assert (np.diff(T) > 0).all()
    for variance, period, quality in ((1.5, 7.0, 4.0), (0.8, 3.0, 0.3), (2.0, 11.0, 200.0), (1.0, 5.0, 0.8)):
        text = f"{variance}*sho(period={period}, quality={quality})"
        print(text, f"celerite2 {celerite2.__version__}",
              repr(float(by_celerite2(terms.SHOTerm(sigma=math.sqrt(variance), rho=period, Q=quality)))))
        print(text, f"tinygp {tinygp.__version__}",
              repr(by_tinygp(quasisep.SHO(omega=2 * math.pi / period, quality=quality, sigma=math.sqrt(variance)))))
    for variance, scale, period in ((1.5, 20.0, 7.0), (0.7, 3.0, 2.5)):
        print(f"{variance}*matern32(lengthscale={scale})*cos(period={period})", f"tinygp {tinygp.__version__}",
              repr(by_tinygp(variance * (quasisep.Matern32(scale=scale) * quasisep.Cosine(scale=period)))))
    for variance, scale, period, smoothness in ((1.5, 20.0, 7.0, 1.0), (0.7, 60.0, 11.0, 0.5), (2.0, 30.0, 6.5, 2.0)):
        repeating = ExpSineSquared(length_scale=smoothness, periodicity=period)
        factor = f"periodic(period={period}, smoothness={smoothness})"
        name = f"scikit-learn {sklearn.__version__}"
        constant = ConstantKernel(variance)
        print(f"{variance}*se(lengthscale={scale})*{factor}", name, repr(float(by_scikit_learn(constant * RBF(scale) * repeating))))
        print(f"{variance}*matern12(lengthscale={scale})*{factor}", name,
              repr(float(by_scikit_learn(constant * Matern(scale, nu=0.5) * repeating))))
        print(f"{variance}*{factor}", name, repr(float(by_scikit_learn(constant * repeating))))


if __name__ == "__main__":
    main()
