# SPDX-License-Identifier: Apache-2.0
import numpy as np
from statsmodels.tsa.statespace.structural import UnobservedComponents

from given import STOPPING
from problem import Fitted

PACKAGES = ("statsmodels", "numpy", "scipy")


def _fit(problem, level):
    """It knows steps, not times: held-out values are missing values of a regular series."""
    t = np.append(problem.t, problem.t_new)
    order = np.argsort(t)
    gap = (t.max() - t.min()) / (len(t) - 1)
    if np.abs(np.diff(t[order]) / gap - 1).max() > 0.2:  # months are taken as even
        raise ValueError("needs evenly spaced times")
    everything = np.append(problem.y, problem.y_new)[order]
    hidden = order >= len(problem.t)
    seen = np.where(hidden, np.nan, everything)
    model = UnobservedComponents(seen, level=level)
    found = model.fit(method="lbfgs", maxiter=STOPPING["maxiter"], disp=False)

    def predict():
        p = found.get_prediction(information_set="smoothed", signal_only=True)
        place = np.flatnonzero(hidden)[np.argsort(np.argsort(problem.t_new))]
        return p.predicted_mean[place], np.sqrt(p.var_pred_mean[place] + found.params[0])

    def nll_of_all():
        return -UnobservedComponents(everything, level=level).loglike(found.params)

    return Fitted(-found.llf, dict(zip(model.param_names, np.asarray(found.params).tolist())), predict,
                  nll_of_all=nll_of_all, evaluations=found.mle_retvals.get("fcalls"))


def local_level(problem):
    return _fit(problem, "local level")


def smooth_trend(problem):
    return _fit(problem, "smooth trend")
