#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forecasts of competition series with periods that are told: scores as a line of Markdown.

usage: forecasts.py FILE --period P[,P...] [--kernel TEXT] [--mean M] [--count N] [--seed I]

FILE is a table `series,part,step,value` (gzip too): part is train or test, steps count through both. The model is fitted
to the values of the training part, standardised by their mean and deviation, with the kernel's periods fixed; the test part is
forecast with GP.forecast. Told are, as means over the series:

    MASE           mean |error| over the mean |seasonal difference| of the training part (the first period)
    MAE, CRPS      of standardised values, and the mean log density of the observations
    in 95 %        share of the test values inside their 95 % interval
    naive          MASE of repeating the last season
"""
import argparse
import csv
import gzip
import math
import random
import statistics
import time
import warnings

import numpy as np

import bandgp


def read(path):
    found = {}
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        for row in csv.DictReader(file):
            found.setdefault(row["series"], {"train": [], "test": []})[row["part"]].append(float(row["value"]))
    return found


def crps(z, std):
    """Of a normal distribution; z are errors in standard deviations."""
    cdf = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in z])
    return std * (z * (2 * cdf - 1) + 2 * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) - 1 / math.sqrt(math.pi))


def fixed_periods(kernel, periods):
    """{"period_2": 24.0, ...} for the terms that have a period, in order."""
    terms = kernel.split("+")
    with_period = [i + 1 for i, term in enumerate(terms) if any(word in term for word in ("periodic", "cos", "sho"))]
    if len(with_period) != len(periods):
        raise SystemExit(f"{len(with_period)} terms have a period, {len(periods)} periods are given")
    return {"period" if len(terms) == 1 else f"period_{i}": p for i, p in zip(with_period, periods)}


def scores(train, test, kernel, periods, mean):
    train, test = np.array(train), np.array(test)
    season = int(periods[0])
    scale = np.abs(train[season:] - train[:-season]).mean()
    centre, unit = train.mean(), train.std() or 1.0
    y, truth = (train - centre) / unit, (test - centre) / unit
    began = time.perf_counter()
    gp = bandgp.GP(kernel, mean=mean, fix=fixed_periods(kernel, periods), standard_errors=False)
    gp.fit(np.arange(len(y), dtype=float), y)
    ahead = gp.forecast(len(truth))
    seconds = time.perf_counter() - began
    error, std = truth - ahead.mean, ahead.std_observed
    z = error / std
    naive = np.resize(train[-season:], len(test))
    return {"MASE": np.abs(error).mean() * unit / scale, "MAE": np.abs(error).mean(), "CRPS": crps(z, std).mean(),
            "log density": (-0.5 * z * z - np.log(std * math.sqrt(2 * math.pi))).mean(), "in 95 %": (np.abs(z) < 1.96).mean(),
            "seconds": seconds, "naive": np.abs(test - naive).mean() / scale}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("--period", required=True, help="the periods in steps, the shortest first, one for each term that has one")
    options.add_argument("--kernel", default="periodic + matern32")
    options.add_argument("--mean", default="constant")
    options.add_argument("--count", type=int, help="so many series at random (default: all)")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    periods = [float(p) for p in given.period.split(",")]
    table = read(given.file)
    names = sorted(table)
    if given.count:
        names = random.Random(given.seed).sample(names, given.count)
    warnings.simplefilter("ignore", bandgp.FitWarning)
    found = [scores(**table[name], kernel=given.kernel, periods=periods, mean=given.mean) for name in names]
    means = {key: statistics.fmean(s[key] for s in found) for key in found[0]}
    print(f"| `{given.kernel}`, {given.mean} mean, {len(found)} series | " + " | ".join(f"{means[k]:.3f}" for k in means) + " |")


if __name__ == "__main__":
    main()
