# SPDX-License-Identifier: Apache-2.0
"""Training for peers that bring none: the same search as scikit-learn's and GPflow's."""

from scipy.optimize import minimize

from given import STOPPING


def minimise(loss, start, with_gradient: bool):
    """L-BFGS-B on log parameters. `loss` gives the NLL, and its gradient if it has one; else differences are taken."""
    return minimize(loss, start, jac=with_gradient, method="L-BFGS-B", options=STOPPING)
