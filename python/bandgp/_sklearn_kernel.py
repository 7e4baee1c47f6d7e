# SPDX-License-Identifier: Apache-2.0
"""Between scikit-learn's kernel objects and the text of ours: sums of Constant * (RBF or Matern), and White."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
from sklearn.gaussian_process import kernels as sk

from ._results import FitWarning

MATERN = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52"}
ADVICE = "bandgp has sums of ConstantKernel * RBF, ConstantKernel * Matern (nu 0.5, 1.5, 2.5) and WhiteKernel"


@dataclass
class Parameter:
    """Where a number of ours is in their kernel; `name` None: their kernel has none, and it is `value`."""

    name: Optional[str]
    value: float
    fixed: bool
    bounds: Optional[tuple[float, float]] = None


@dataclass
class Translation:
    shapes: list[str] = field(default_factory=list)
    terms: list[tuple[Parameter, Parameter]] = field(default_factory=list)
    noise: Optional[Parameter] = None

    @property
    def text(self) -> str:
        return " + ".join(self.shapes)

    @property
    def parameters(self) -> list[Parameter]:
        noise = self.noise or Parameter(None, 0.0, True)
        return [parameter for term in self.terms for parameter in term] + [noise]


def translate(kernel: sk.Kernel) -> Translation:
    result = Translation()
    _add(kernel, "", result)
    if not result.shapes:
        raise ValueError(f"the kernel {kernel} has no curve in it: {ADVICE}")
    return result


def with_values(kernel: sk.Kernel, translation: Translation, values: list[float]) -> sk.Kernel:
    """Their kernel with our numbers; says where one lies outside the bounds they were given."""
    found = {}
    for parameter, value in zip(translation.parameters, values):
        if parameter.name is None or parameter.fixed:
            continue
        found[parameter.name] = value
        if parameter.bounds and not parameter.bounds[0] <= value <= parameter.bounds[1]:
            warnings.warn(f"{parameter.name} is {value:.4g}, outside its bounds {parameter.bounds}: bandgp looks for the "
                          "optimum wherever it is", FitWarning, stacklevel=4)
    return sk.clone(kernel).set_params(**found)


def free_places(kernel: sk.Kernel) -> list[int]:
    """For each entry of their kernel's theta, which of our parameters it is: theirs come as the kernel was written."""
    ours = {parameter.name: place for place, parameter in enumerate(translate(kernel).parameters)}
    return [ours[theirs.name] for theirs in kernel.hyperparameters if not theirs.fixed]


def _add(kernel: sk.Kernel, path: str, result: Translation) -> None:
    if isinstance(kernel, sk.Sum):
        _add(kernel.k1, path + "k1__", result)
        _add(kernel.k2, path + "k2__", result)
    elif isinstance(kernel, sk.WhiteKernel):
        if result.noise is not None:
            raise ValueError("the kernel has two WhiteKernel terms: one is enough")
        result.noise = _parameter(kernel, path, "noise_level")
    else:
        shape, lengthscale, variances = _factors(kernel, path)
        if len(variances) > 1:
            raise ValueError(f"{kernel} has several constants: one is enough")
        result.shapes.append(shape)
        result.terms.append((variances[0] if variances else Parameter(None, 1.0, True), lengthscale))


def _factors(kernel: sk.Kernel, path: str) -> tuple[str, Parameter, list[Parameter]]:
    if isinstance(kernel, sk.Product):
        for one, other, at, beside in ((kernel.k1, kernel.k2, "k1__", "k2__"), (kernel.k2, kernel.k1, "k2__", "k1__")):
            if isinstance(one, sk.ConstantKernel):
                shape, lengthscale, variances = _factors(other, path + beside)
                return shape, lengthscale, [*variances, _parameter(one, path + at, "constant_value")]
    own = MATERN.get(kernel.nu) if isinstance(kernel, sk.Matern) else "se" if isinstance(kernel, sk.RBF) else None
    if own is None:
        raise ValueError(f"the kernel {kernel} is none of ours: {ADVICE}")
    if np.size(kernel.length_scale) != 1:
        raise ValueError(f"{kernel} has {np.size(kernel.length_scale)} length-scales, and there is one feature")
    return own, _parameter(kernel, path, "length_scale"), []


def _parameter(kernel: Any, path: str, name: str) -> Parameter:
    bounds = getattr(kernel, name + "_bounds")
    fixed = isinstance(bounds, str) and bounds == "fixed"
    limits = None if fixed else np.ravel(bounds)
    return Parameter(path + name, float(np.ravel(getattr(kernel, name))[0]), fixed,
                     None if limits is None else (float(limits[0]), float(limits[1])))
