# SPDX-License-Identifier: Apache-2.0
"""One peer on one series, in a process of its own: trial.py MODULE FUNCTION TRAIN.csv TEST.csv OUT.json

What is known is written after each stage: a peer that cannot predict has still been trained.
"""

import importlib
import json
import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from problem import joint_nlpd, read_problem, scores

NOT_INSTALLED = 3  # exit code


def megabytes() -> float:
    """The most so far. (getrusage would count what the process that started this one held.)"""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return getattr(importlib.import_module(package), "__version__", "?")


def write(out: str, result: dict) -> None:
    with open(out + ".part", "w") as file:
        json.dump(result, file)
    os.replace(out + ".part", out)


def main() -> None:
    module, function, train, test, out = sys.argv[1:]
    try:
        calls = importlib.import_module(f"calls.{module}")
    except ImportError as error:
        print(error)
        sys.exit(NOT_INSTALLED)
    problem = read_problem(train, test)
    result = {"import_mb": megabytes(), "versions": {package: version_of(package) for package in calls.PACKAGES}}
    began = time.perf_counter()
    fitted = getattr(calls, function)(problem)
    result |= {"fit_seconds": time.perf_counter() - began, "peak_mb": megabytes(), "parameters": fitted.parameters,
               "evaluations": fitted.evaluations, "nll": float(fitted.nll + len(problem.y) * np.log(problem.scale)), "next": "predicting"}
    write(out, result)
    began = time.perf_counter()
    mean, std = fitted.predict()
    result |= {"predict_seconds": time.perf_counter() - began, "peak_mb": megabytes(), **scores(problem, mean, std),
               "next": "computing the joint density"}
    write(out, result)
    result |= {"nlpd_joint": joint_nlpd(problem, fitted), "next": ""}
    write(out, result)


if __name__ == "__main__":
    main()
