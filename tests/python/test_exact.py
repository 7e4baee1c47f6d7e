# SPDX-License-Identifier: Apache-2.0
"""Against scikit-learn's dense Gaussian process, which shares nothing with this library."""

import numpy as np
import pytest

import bandgp

gaussian_process = pytest.importorskip("sklearn.gaussian_process")
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel  # noqa: E402

KERNELS = {
    "se": ConstantKernel(1.3) * RBF(2.1) + WhiteKernel(0.05),
    "matern32": ConstantKernel(1.3) * Matern(2.1, nu=1.5) + WhiteKernel(0.05),
    "se + matern12": ConstantKernel(1.1) * RBF(4.0) + ConstantKernel(0.2) * Matern(0.7, nu=0.5) + WhiteKernel(0.05),
}


def series(n=1000):
    rng = np.random.default_rng(11)
    t = np.sort(rng.uniform(0, n / 5, n))
    return t, np.sin(t / 2) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize("yerr", [False, True])
def test_at_the_same_parameters(text, yerr):
    """Mean, deviation, covariance, likelihood and gradient: the certificate allows 1e-10, so 1e-8 is rounding's."""
    t, y = series()
    errors = np.random.default_rng(5).uniform(0.05, 0.3, t.size) if yerr else None
    dense = gaussian_process.GaussianProcessRegressor(KERNELS[text], alpha=errors**2 if yerr else 0.0, optimizer=None)
    dense.fit(t[:, None], y)
    ours = bandgp.BandedGPRegressor(KERNELS[text], alpha=errors**2 if yerr else 0.0, optimizer=None, tolerance=1e-10)
    ours.fit(t[:, None], y)
    at = np.linspace(-5, 205, 400)[:, None]
    for theirs, own in zip(dense.predict(at, return_std=True), ours.predict(at, return_std=True)):
        np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours.predict(at, return_cov=True)[1], dense.predict(at, return_cov=True)[1], atol=1e-8)
    theta = dense.kernel_.theta + 0.1
    if text == "se + matern12":  # scikit-learn's order is ours
        assert [p.name for p in dense.kernel_.hyperparameters][-1].endswith("noise_level")
    for point in (None, theta):
        value, slope = dense.log_marginal_likelihood(dense.kernel_.theta if point is None else point, eval_gradient=True)
        own, own_slope = ours.log_marginal_likelihood(point, eval_gradient=True)
        assert abs(own - value) < 1e-8 * abs(value)
        np.testing.assert_allclose(own_slope, slope, atol=1e-8 * np.abs(slope).max())


def test_training_reaches_the_same_optimum():
    t, y = series(400)
    dense = gaussian_process.GaussianProcessRegressor(KERNELS["se"], alpha=0.0).fit(t[:, None], y)
    ours = bandgp.BandedGPRegressor(KERNELS["se"]).fit(t[:, None], y)
    assert ours.log_marginal_likelihood_value_ >= dense.log_marginal_likelihood_value_ - 1e-5
    np.testing.assert_allclose(ours.kernel_.theta, dense.kernel_.theta, atol=1e-3)  # L-BFGS-B stops at 1e-5 of slope


def test_samples_have_the_posterior_covariance():
    t, y = series(200)
    ours = bandgp.BandedGPRegressor(KERNELS["se"], optimizer=None).fit(t[:, None], y)
    at = np.array([[10.0], [10.5], [60.0]])  # the last far outside
    draws = ours.sample_y(at, 20_000, random_state=1)
    mean, covariance = ours.predict(at, return_cov=True)
    assert draws.shape == (3, 20_000)
    assert np.abs(draws.mean(axis=1) - mean).max() < 5 * np.sqrt(covariance.max() / 20_000)
    assert np.abs(np.cov(draws) - covariance).max() < 5 * covariance.max() * np.sqrt(2 / 20_000)


def test_components_and_curves(small):
    gp = bandgp.GP("se + se").fit(*small)
    t = np.linspace(0, 60, 50)
    parts, std = gp.predict(t, components=True, return_std=True)
    assert parts.shape == std.shape == (2, 50)
    np.testing.assert_allclose(parts.sum(axis=0) + gp.mean_[0], gp.predict(t), atol=1e-9)
    curve, = gp.curves(1, seed=4)
    assert np.array_equal(curve(t)[10:20], curve(t[10:20]))
