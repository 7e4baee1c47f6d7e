# SPDX-License-Identifier: Apache-2.0
"""Who is compared: what each is, where it is installed and which function of calls/ trains it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    name: str  # on the command line and in files
    title: str
    environment: str
    module: str  # of calls/
    function: str
    model: str
    note: str  # what it is given that others are not, and what it cannot take
    kind: str  # exact: the dense SE model, whose NLL must be the same for all; near: an approximation of it; other
    mark: int  # on charts

    @property
    def code(self) -> str:
        return (HERE / "calls" / f"{self.module}.py").read_text(encoding="utf-8")


LBFGS = "SciPy's L-BFGS-B on logarithms"
PEERS = (
    Peer("bandgp", "bandgp, auto", "base", "bandgp", "auto", "SE",
         "Its own optimiser and stopping rule. Standard errors and the certificate are part of the training time.", "exact", 0),
    Peer("bandgp-dual", "bandgp, dual", "base", "bandgp", "dual", "SE", "As above, always in the dual band.", "exact", 8),
    Peer("bandgp-band", "bandgp, band", "base", "bandgp", "band", "SE", "As above, always in the covariance band.", "exact", 5),
    Peer("bandgp-sum", "bandgp, se + se", "base", "bandgp", "sum_of_two", "SE + SE",
         "Chooses its own starts: the common one has one term.", "other", 7),
    Peer("scipy", "cholesky_banded script", "base", "scipy_banded", "script", "SE, 64 neighbours",
         f"{LBFGS}, gradients by differences. A band of fixed width: nothing says how far it is from the exact model.", "near", 9),
    Peer("scikit-learn", "scikit-learn", "base", "scikit_learn", "exact", "SE",
         "Its own L-BFGS-B, SciPy's defaults; the number of iterations is not limited to 100. Bounds wide enough not to matter.", "exact", 1),
    Peer("gpflow", "GPflow GPR", "gpflow", "gpflow", "exact", "SE",
         "Tracing by TensorFlow is part of the training time. Parameters by softplus, not logarithms.", "exact", 2),
    Peer("gpflow-sgpr", "GPflow SGPR (VFE)", "gpflow", "gpflow", "sgpr", "SE, 100 inducing",
         "Inducing inputs start at quantiles and are trained, as is its default. Its NLL is an upper bound of the exact one.", "near", 3),
    Peer("gpflow-fitc", "GPflow GPRFITC", "gpflow", "gpflow", "fitc", "SE, 100 inducing",
         "Inducing inputs as above. Its NLL is that of another model.", "near", 4),
    Peer("gpytorch", "GPyTorch exact", "gpytorch", "gpytorch", "exact", "SE",
         f"{LBFGS} instead of the Adam of its tutorials; Cholesky at any size.", "exact", 3),
    Peer("gpytorch-kiss", "GPyTorch KISS-GP", "gpytorch", "gpytorch", "kiss", "SE, grid of 2n",
         f"{LBFGS}; its log determinant is a random estimate, held fixed by one seed for all evaluations, so its NLL is one too.", "near", 6),
    Peer("celerite2", "celerite2", "base", "celerite2", "matern32", "Matérn-3/2",
         f"{LBFGS}, gradients by differences. It has no SE kernel, and approximates Matérn-3/2 (eps = 0.01, its default).", "other", 1),
    Peer("tinygp", "tinygp quasisep", "tinygp", "tinygp", "matern32", "Matérn-3/2",
         f"{LBFGS}, gradients by JAX. Compilation is part of both times; it has no quasiseparable SE kernel.", "other", 2),
    Peer("gpboost-vecchia", "GPBoost Vecchia", "base", "gpboost", "vecchia", "SE, 30 neighbours",
         "Its own L-BFGS and stopping rule, 100 iterations at most.", "near", 8),
    Peer("gpboost-taper", "GPBoost tapering", "base", "gpboost", "tapering", "SE × Wendland",
         "Range 60 gaps, shape 1. Its own L-BFGS and stopping rule, 100 iterations at most.", "near", 5),
    Peer("gpy", "GPy state space", "gpy", "gpy", "state_space", "SE by 10 states",
         "Its own call of L-BFGS-B, 100 iterations at most. The state-space form approximates the SE kernel.", "near", 1),
    Peer("statsmodels", "statsmodels smooth trend", "base", "statsmodels", "smooth_trend", "integrated random walk",
         "Its own start; L-BFGS of SciPy, 100 iterations at most. Evenly spaced times only: what is held out is missing. "
         "Its NLL leaves out the diffuse first values.", "other", 9),
    Peer("statsmodels-level", "statsmodels local level", "base", "statsmodels", "local_level", "random walk", "As above.", "other", 6),
)
ENVIRONMENTS = ("base", "gpflow", "gpytorch", "tinygp", "gpy")
REFERENCE = "bandgp"  # times are told relative to its


def chosen(without: list[str], only: list[str]) -> list[Peer]:
    """Both name peers or packages, with all that is theirs. What times are compared with stays."""
    names = lambda peer: {peer.name, peer.module, peer.environment}  # noqa: E731
    known = set().union(*map(names, PEERS))
    for name in [*without, *only]:
        if name not in known:
            raise ValueError(f"there is no peer {name!r}; there are {', '.join(peer.name for peer in PEERS)}")
    return [peer for peer in PEERS if peer.name == REFERENCE
            or (not names(peer) & set(without) and (not only or names(peer) & set(only)))]
