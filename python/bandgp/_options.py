# SPDX-License-Identifier: Apache-2.0
"""Options of the package as the library takes them. What contradicts itself is refused, not guessed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional, Union

from . import _core

TRAINED_AT = 1e-5  # kTightTolerance of src/bandgp/fit/fit.cpp: fits end at it, or at `tolerance` where that is less
RULES = ("corollary", "theorem", "lemma")


def thread_count(threads: Optional[int]) -> int:
    if threads is None:
        return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if int(threads) != threads or threads < 1:
        raise ValueError(f"threads is {threads}, must be a positive whole number")
    return int(threads)


def make_cut(*, kernel: str, method: str, tolerance: float, bandwidth: Union[str, int], reach: Optional[float],
             inducing: Optional[int], move_inducing: bool, neighbours: Optional[int], taper_range: Optional[float],
             taper: Optional[str]) -> _core.Cut:
    def only(given: bool, name: str, methods: tuple[str, ...]) -> None:
        if given and method not in methods:
            raise ValueError(f"{name} is for method {' or '.join(methods)}, not {method!r}")

    only(inducing is not None, "inducing", ("fitc", "vfe"))
    only(move_inducing, "move_inducing", ("fitc", "vfe"))
    only(neighbours is not None, "neighbours", ("vecchia", "taper"))
    only(taper_range is not None, "taper_range", ("taper",))
    only(taper is not None, "taper", ("taper",))
    if taper_range is not None and neighbours is not None:
        raise ValueError("taper_range and neighbours are given; only one of them can hold")
    if bandwidth != "auto" and reach is not None:
        raise ValueError("reach and bandwidth are given; only one of them can hold")
    if bandwidth != "auto" or reach is not None:
        only(True, "bandwidth" if reach is None else "reach", ("auto", "band"))

    rule, width = "tolerance", 0
    if reach is not None:
        rule = "reach"
    elif isinstance(bandwidth, str):
        if bandwidth in RULES:
            rule = bandwidth
            if rule != "lemma" and not _core.is_single_se(kernel):
                raise ValueError(f"bandwidth={rule!r} is a rule for the kernel se alone")
        elif bandwidth != "auto":
            raise ValueError(f"bandwidth is auto, {', '.join(RULES)} or a whole number, not {bandwidth!r}")
    else:
        rule, width = "bandwidth", whole("bandwidth", bandwidth)
    return _core.make_cut(
        method=method, rule=rule, tolerance=positive("tolerance", tolerance), bandwidth=width,
        reach=0.0 if reach is None else positive("reach", reach),
        inducing=100 if inducing is None else whole("inducing", inducing), move_inducing=bool(move_inducing),
        neighbours=30 if neighbours is None else whole("neighbours", neighbours),
        taper_range=0.0 if taper_range is None else positive("taper_range", taper_range), taper=taper or "c2")


def told_by(cut: Mapping[str, Any]) -> dict[str, Any]:
    """The options behind the `cut` of a model file: those that make the same fit again."""
    method, rule = cut["method"], cut["rule"]
    options = {"method": method}
    if rule != "tolerance" or cut["tolerance"] < TRAINED_AT:  # else any that is not less has the same fit
        options["tolerance"] = cut["tolerance"]
    if rule in RULES:
        options["bandwidth"] = rule
    elif rule in ("bandwidth", "reach"):
        options[rule] = cut[rule]
    if method in ("fitc", "vfe"):
        options.update(inducing=cut["inducing"], move_inducing=cut["move_inducing"])
    elif method == "vecchia":
        options["neighbours"] = cut["neighbours"]
    elif method == "taper":
        given = "neighbours" if cut["taper_range"] == 0 else "taper_range"
        options.update({given: cut[given], "taper": cut["taper"]})
    return options


def positive(name: str, value: Any) -> float:
    number = float(value)
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} is {value}, must be finite and positive")
    return number


def whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or value != int(value) or value < 0:
        raise ValueError(f"{name} is {value}, must be a whole number, and not negative")
    return int(value)


def assignments(name: str, given: Optional[Mapping[str, float]], kernel: str) -> dict[str, float]:
    known = _core.parameter_names(kernel)
    result = {}
    for key, value in (given or {}).items():
        if key not in known:
            raise ValueError(f"{name}: no parameter {key!r}; the kernel has {', '.join(known)}")
        may_vanish = key == "noise" and name == "fix" and float(value) == 0  # known errors may be all there is
        result[key] = 0.0 if may_vanish else positive(f"{name}[{key!r}]", value)
    return result
