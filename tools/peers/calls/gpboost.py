# SPDX-License-Identifier: Apache-2.0
import gpboost
import numpy as np

from given import STOPPING
from problem import Fitted

PACKAGES = ("gpboost", "numpy")
NEIGHBOURS = 30
TAPER = 60.0  # range, in mean gaps


def _fit(problem, **how):
    # Its covariance is exp(−(d/ρ)²): ρ = √2 lengthscale. No fixed effects: a zero mean, as for all.
    model = gpboost.GPModel(gp_coords=problem.t[:, None], cov_function="gaussian", likelihood="gaussian", **how)
    model.fit(y=problem.y, params={"optimizer_cov": "lbfgs", "maxit": STOPPING["maxiter"],
                                   "init_cov_pars": np.array([problem.noise, problem.variance,
                                                              np.sqrt(2) * problem.lengthscale])})
    noise, variance, rho = np.asarray(model.get_cov_pars()).ravel()[:3]
    new = problem.t_new[:, None]

    def predict():
        p = model.predict(gp_coords_pred=new, predict_var=True, predict_response=True)
        return p["mu"], np.sqrt(p["var"])

    def covariance():
        p = model.predict(gp_coords_pred=new, predict_cov_mat=True, predict_response=True)
        return p["mu"], p["cov"]

    return Fitted(float(model.get_current_neg_log_likelihood()),
                  {"variance": float(variance), "lengthscale": float(rho / np.sqrt(2)), "noise": float(noise)},
                  predict, covariance=covariance)


def vecchia(problem):
    return _fit(problem, gp_approx="vecchia", num_neighbors=NEIGHBOURS)


def tapering(problem):
    return _fit(problem, gp_approx="tapering", cov_fct_taper_shape=1.0, cov_fct_taper_range=TAPER)
