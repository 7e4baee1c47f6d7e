# SPDX-License-Identifier: Apache-2.0
"""Gaussian-process regression for long one-dimensional series, with a certificate.

    gp = bandgp.GP(kernel="se").fit(t, y)
    mean, std = gp.predict(t_new, return_std=True)
    gp.certificate_                     # how far that can be from the dense, exact model

`BandedGPRegressor` is the same behind scikit-learn's interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import instruction_set, version
from ._gp import GP
from ._periods import Peak, Periodogram, periodogram
from ._reproduce import reproduce
from ._results import Certificate, Evaluation, FitWarning, Forecast, LeaveOneOut, NotFittedError
from ._tools import Table, bandwidth, nll, read_table, simulate

if TYPE_CHECKING:
    from ._sklearn import BandedGPRegressor

__version__ = version()
__all__ = [
    "GP", "BandedGPRegressor", "Certificate", "Evaluation", "FitWarning", "Forecast", "LeaveOneOut", "NotFittedError", "Peak",
    "Periodogram", "Table", "bandwidth", "instruction_set", "nll", "periodogram", "read_table", "reproduce", "simulate",
]


def __getattr__(name: str) -> Any:
    """The estimator comes when it is asked for: scikit-learn takes a second to import, and need not be there."""
    if name != "BandedGPRegressor":
        raise AttributeError(f"module 'bandgp' has no attribute {name!r}")
    try:
        from ._sklearn import BandedGPRegressor
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("sklearn", "scipy", "joblib"):
            raise
        raise ImportError("bandgp.BandedGPRegressor needs scikit-learn: pip install scikit-learn "
                          "(bandgp.GP works without it)", name=error.name) from error
    globals()[name] = BandedGPRegressor
    return BandedGPRegressor


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
