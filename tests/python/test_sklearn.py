# SPDX-License-Identifier: Apache-2.0
"""The estimator inside scikit-learn: its own checks, clones, pipelines, searches, pickles."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
import sklearn.utils.estimator_checks as checks  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from bandgp import BandedGPRegressor  # noqa: E402

SEVERAL = "fits data of several features, which have no band; passes on the first of them"
# Every check of scikit-learn's that may fail, and why. Those of the first two lines cannot hold on one feature either.
EXCEPTED = {
    "check_n_features_in_after_fitting": "takes a feature away from several",
    "check_regressors_train": "wants a score that the first of ten features cannot give",
    "check_dict_unchanged": SEVERAL,
    "check_dont_overwrite_parameters": SEVERAL,
    "check_dtype_object": SEVERAL,
    "check_estimators_dtypes": SEVERAL,
    "check_estimators_fit_returns_self": SEVERAL,
    "check_estimators_nan_inf": SEVERAL,
    "check_estimators_overwrite_params": SEVERAL,
    "check_estimators_pickle": SEVERAL,
    "check_f_contiguous_array_estimator": SEVERAL,
    "check_fit2d_predict1d": SEVERAL,
    "check_fit_check_is_fitted": SEVERAL,
    "check_fit_idempotent": SEVERAL,
    "check_fit_score_takes_y": SEVERAL,
    "check_methods_sample_order_invariance": SEVERAL,
    "check_methods_subset_invariance": SEVERAL,
    "check_n_features_in": SEVERAL,
    "check_pipeline_consistency": SEVERAL,
    "check_positive_only_tag_during_fit": SEVERAL,
    "check_readonly_memmap_input": SEVERAL,
    "check_regressor_data_not_an_array": SEVERAL,
    "check_regressors_int": SEVERAL,
    "check_regressors_no_decision_function": SEVERAL,
    "check_supervised_y_2d": SEVERAL,
}
NEVER = {name: reason for name, reason in EXCEPTED.items() if reason != SEVERAL}


def failures(excepted):
    """What the checks of `excepted` raised; fails where another check does, or where one of these passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(BandedGPRegressor(), expected_failed_checks=excepted, on_fail=None)
    unlisted = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not unlisted, unlisted
    stale = {result["check_name"] for result in results if result["status"] == "passed"} & set(excepted)
    assert not stale, f"these pass and need no exception: {stale}"
    assert sum(result["status"] == "passed" for result in results) >= 20
    return [(result["check_name"], str(result["exception"])) for result in results if result["status"] == "xfail"]


def test_check_estimator_as_it_is():
    """Fails only where it is listed, and there says that it takes one feature."""
    for name, said in failures(EXCEPTED):
        # One check gives an error's cause in its own words.
        assert "exactly 1 feature" in said or name == "check_positive_only_tag_during_fit", (name, said)


def test_check_estimator_with_one_feature(monkeypatch):
    """The same checks on the first feature of their data."""
    theirs = checks._enforce_estimator_tags_X

    def first(*arguments, **options):
        result = theirs(*arguments, **options)
        cut = [X[:, :1] if getattr(X, "ndim", 0) == 2 else X for X in (result if isinstance(result, tuple) else [result])]
        return tuple(cut) if isinstance(result, tuple) else cut[0]

    monkeypatch.setattr(checks, "_enforce_estimator_tags_X", first)
    failures(NEVER)


def test_clone_and_parameters():
    estimator = BandedGPRegressor(kernel="se + se", tolerance=0.1)
    twin = clone(estimator)
    assert twin.get_params() == estimator.get_params() and not hasattr(twin, "gp_")
    assert not hasattr(estimator, "partial_fit")


def test_pipeline_search_scores(small):
    t, y = small
    X = t[:, None]
    folds = KFold(4, shuffle=True, random_state=0)
    assert cross_val_score(BandedGPRegressor(), X, y, cv=folds).min() > 0.7
    pipeline = make_pipeline(StandardScaler(), BandedGPRegressor(normalize_y=True)).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), BandedGPRegressor(normalize_y=True).fit(X, y).predict(X), atol=1e-4)
    search = GridSearchCV(BandedGPRegressor(), {"kernel": ["se", "matern12"], "mean": ["zero", "constant"]}, cv=folds, n_jobs=2)
    assert search.fit(X, y).best_params_["kernel"] == "se"


def test_normalised_as_theirs(small):
    t, y = small
    X, kernel = t[:, None], ConstantKernel(1.0) * RBF(2.0) + WhiteKernel(0.1)
    dense = GaussianProcessRegressor(kernel, normalize_y=True, alpha=0.0, optimizer=None).fit(X, 100 + 7 * y)
    ours = BandedGPRegressor(kernel, normalize_y=True, optimizer=None, tolerance=1e-10).fit(X, 100 + 7 * y)
    for theirs, own in zip(dense.predict(X, return_std=True), ours.predict(X, return_std=True)):
        np.testing.assert_allclose(own, theirs, rtol=1e-9)


def test_kernels_of_scikit_learn(small):
    t, y = small
    X = t[:, None]
    fixed = ConstantKernel(1.0, "fixed") * Matern(2.0, nu=2.5) + WhiteKernel(0.1)
    ours = BandedGPRegressor(fixed).fit(X, y)
    assert ours.kernel_.k1.k1.constant_value == 1.0 and ours.kernel_.k1.k2.length_scale != 2.0
    assert ours.gp_.kernel == "matern52"
    noiseless = BandedGPRegressor(ConstantKernel(1.0) * RBF(2.0), alpha=0.04).fit(X, y)
    assert noiseless.gp_.noise_ == 0 and noiseless.predict(X, return_std=True)[1].max() < 0.2
    with pytest.raises(ValueError, match="none of ours"):
        BandedGPRegressor(DotProduct() + WhiteKernel()).fit(X, y)
    with pytest.raises(ValueError, match="exactly 1 feature"):
        BandedGPRegressor().fit(np.c_[t, t], y)
    with pytest.warns(UserWarning, match="outside its bounds"):
        BandedGPRegressor(ConstantKernel(1.0) * RBF(0.1, (0.05, 0.2)) + WhiteKernel(0.1)).fit(X, y)


@pytest.mark.parametrize("kernel, alpha", [
    (ConstantKernel(1.5) * RBF(2.0) + WhiteKernel(0.1), 0.0),
    (WhiteKernel(0.1) + ConstantKernel(1.5) * RBF(2.0), 0.0),
    (RBF(2.0) * ConstantKernel(1.5) + WhiteKernel(0.1), 0.0),
    (RBF(2.0) + WhiteKernel(0.1), 0.0),
    (ConstantKernel(1.5) * RBF(2.0), 0.04),
    (WhiteKernel(0.1, "fixed") + RBF(2.0) * ConstantKernel(1.5), 0.0),
    (ConstantKernel(1.5, "fixed") * RBF(2.0) + WhiteKernel(0.1), 0.02),
    (ConstantKernel(1.5) * RBF(2.0, "fixed") + WhiteKernel(0.1), 0.0),
    (Matern([2.0], nu=1.5) * ConstantKernel(0.5) + WhiteKernel(0.1) + ConstantKernel(1.5) * RBF(4.0), 0.0),
    (ConstantKernel(0.5) * Matern(2.0, "fixed", nu=2.5) + (WhiteKernel(0.1) + RBF(4.0) * ConstantKernel(1.5, "fixed")), 0.0),
], ids=str)
@pytest.mark.parametrize("trained", [False, True])
def test_likelihood_at_their_theta(small, kernel, alpha, trained):
    """Value and gradient in the order and number of kernel_.theta, whatever the kernel's shape."""
    t, y = small[0][:80], small[1][:80]
    X = t[:, None]
    dense = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 80 points need not tell two terms apart
        ours = BandedGPRegressor(kernel, alpha=alpha, method="exact", **({} if trained else {"optimizer": None})).fit(X, y)
    assert ours.kernel_.theta.size == dense.kernel_.theta.size
    for theta in (kernel.theta, kernel.theta + np.linspace(-0.3, 0.4, kernel.theta.size), ours.kernel_.theta):
        value, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
        expected, slopes = dense.log_marginal_likelihood(theta, eval_gradient=True)
        # The condition numbers here are up to 10³, so rounding costs about n 10³ u = 10⁻¹¹; slopes vanish at the fit.
        np.testing.assert_allclose(value, expected, rtol=1e-10)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-10 * abs(expected))
        assert ours.log_marginal_likelihood(theta) == value
    at_the_fit, slopes = ours.log_marginal_likelihood(eval_gradient=True)
    assert slopes.shape == kernel.theta.shape
    np.testing.assert_allclose(at_the_fit, ours.log_marginal_likelihood(ours.kernel_.theta), rtol=1e-8)
    with pytest.raises(ValueError, match="free hyperparameters"):
        ours.log_marginal_likelihood(np.zeros(kernel.theta.size + 1))


def test_not_fitted():
    X = np.zeros((3, 1))
    for ask in (lambda e: e.predict(X), lambda e: e.sample_y(X), lambda e: e.log_marginal_likelihood(), lambda e: e.certificate_):
        with pytest.raises(NotFittedError):
            ask(BandedGPRegressor())


def test_pickles_hold_no_matrix(small):
    estimator = BandedGPRegressor().fit(small[0][:, None], small[1])
    data = pickle.dumps(estimator)
    assert len(data) < 60_000  # 300 points; the dense factor alone has 720,000
    at = np.linspace(0, 60, 11)[:, None]
    assert np.array_equal(pickle.loads(data).predict(at), estimator.predict(at))


SCRIPT = """
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel as C, WhiteKernel

kernel = C(1.0, (1e-3, 1e3)) * RBF(10.0, (1e-2, 1e6)) + WhiteKernel(0.1)
gp = GaussianProcessRegressor(kernel=kernel, n_restarts_optimizer=3, random_state=0)
gp.fit(X, y)
mean, std = gp.predict(X[::1000], return_std=True)
cov = gp.predict(X[:50], return_cov=True)[1]
draws = gp.sample_y(X[:50], n_samples=3, random_state=1)
score = gp.score(X[::100], y[::100])
fitted = gp.kernel_, gp.log_marginal_likelihood(gp.kernel_.theta), gp.log_marginal_likelihood_value_
"""


@pytest.mark.parametrize("n", [300, 1_000_000])
def test_only_the_import_changes(n):
    """A script for scikit-learn, run as it is on few points and with our import on few and on 10⁶."""
    import bandgp
    t, y = bandgp.simulate(n, variance=2, lengthscale=25, noise=0.2, seed=2)
    ours = {"X": t[:, None], "y": y}
    changed = SCRIPT.replace("from sklearn.gaussian_process import GaussianProcessRegressor",
                             "from bandgp import BandedGPRegressor as GaussianProcessRegressor")
    assert changed != SCRIPT
    exec(changed, ours)
    assert ours["cov"].shape == (50, 50) and ours["draws"].shape == (50, 3) and ours["score"] > 0.8
    kernel, at_theta, value = ours["fitted"]
    assert abs(at_theta - value) < 1e-6 * abs(value)
    if n == 300:
        theirs = {"X": t[:, None], "y": y}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(SCRIPT, theirs)
        np.testing.assert_allclose(kernel.theta, theirs["fitted"][0].theta, atol=2e-3)
        np.testing.assert_allclose(ours["std"], theirs["std"], rtol=1e-3)
    else:
        np.testing.assert_allclose(np.exp(kernel.theta), [2, 25, 0.2], rtol=0.05)
