#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markov terms against celerite2, in one process: ratios of medians of runs that take turns.

usage: bench_celerite2.py [--rounds 9] [--points 1000000] [--data DIR]

celerite2 computes a likelihood's value alone; bandgp the value, its gradient and the certificate, on one thread. Both
are given the mean; what estimating a constant one adds is told beside it, without a bar. Whole
fits are set against 1,000 of celerite2's Matérn-3/2 likelihoods on as many points of real series (`--data`, or
BANDGP_DATA; without it that part is left out).
"""
import argparse
import os
import statistics
from pathlib import Path

import celerite2
import numpy as np
from celerite2 import terms

import bandgp
from bench_common import CUT, medians
from bandgp import _core
from bandgp._tools import series_of
from bandgp._options import make_cut


def celerite2_value(term, t, y, noise):
    process = celerite2.GaussianProcess(term, mean=0.0)

    def call():
        process.compute(t, diag=np.full(len(t), noise))
        return process.log_likelihood(y)

    return call


def bandgp_value_and_gradient(kernel, t, y, noise, threads, mean="zero"):
    loss = _core.Loss(series_of(t, y, None, mean), mean, make_cut(kernel=kernel, **CUT), threads)

    def call():
        return loss(kernel, noise, True)

    call()  # takes the memory
    return call


def row(what, ratio, bar, at_least=False):
    kept = ratio >= bar if at_least else ratio <= bar
    print(f"  {what:<82} {ratio:8.2f}   {'>=' if at_least else '<='} {bar:<4} {'' if kept else '  MISSED'}", flush=True)


SERIES = (("CO2", "co2/co2-ppm-daily.csv"), ("glucose", "glucose/CGM.csv"),
          ("Kepler", "lightcurves/kplr001430163-2010355172524_llc.csv"), ("load", "electricity/PJME_hourly.csv"))
COLUMNS = {"glucose": dict(x="datetime", y="glucose"), "Kepler": dict(x=1, y=2)}


def first_points(data, count=6000):
    """The first points of four real series: name, times, values."""
    for name, path in SERIES:
        if not (data / path).exists():
            print(f"  no {path}: left out")
            continue
        fit = bandgp.read_table(str(data / path), **COLUMNS.get(name, {}))
        t, keep = np.unique(np.asarray(fit.time, dtype=float), return_index=True)
        y = np.asarray(fit.value, dtype=float)[keep]
        known = np.isfinite(y) & np.isfinite(t)
        yield name, t[known][:count], y[known][:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, default=os.environ.get("BANDGP_DATA"))
    given = parser.parse_args()
    random = np.random.default_rng(0)
    n = given.points
    t = np.cumsum(random.uniform(0.1, 1.9, n))
    y = np.sin(0.01 * t) + np.sin(0.3 * t) + 0.3 * random.normal(size=n)
    print(f"celerite2 {celerite2.__version__}, bandgp {bandgp.__version__}, {n} irregular points")
    for kernel, term, bar in (("1*matern12(lengthscale=10)", terms.RealTerm(a=1.0, c=0.1), 0.9),
                              ("1*matern32(lengthscale=10)", terms.Matern32Term(sigma=1.0, rho=10.0), 1.0)):
        one = bandgp_value_and_gradient(kernel, t, y, 0.1, 1)
        two = bandgp_value_and_gradient(kernel, t, y, 0.1, 2)
        mean = bandgp_value_and_gradient(kernel, t, y, 0.1, 1, "constant")
        ours, estimated, theirs = medians(given.rounds, one, mean, celerite2_value(term, t, y, 0.1))
        row(f"{kernel}: NLL with gradient / celerite2's value", ours / theirs, bar)
        print(f"  {'the same with an estimated mean':<82} {estimated / theirs:8.2f}")
        alone, both = medians(given.rounds, one, two)
        row(f"{kernel}: two threads, speed-up", alone / both, 1.3, at_least=True)

    if given.data is None:
        print("  no data folder: whole fits on real series are left out")
        return
    groups = {"Markov terms": (("matern12", "matern32", "matern12 + matern32"), 1, 4),
              "SE terms and others": (("se + matern12", "se + se", "se + matern32", "se + se + matern12"), 2, 12)}
    ratios = {group: [] for group in groups}
    for name, t, y in first_points(Path(given.data)):
        y = (y - y.mean()) / y.std()
        value = celerite2_value(terms.Matern32Term(sigma=1.0, rho=10 * float(np.median(np.diff(t)))), t, y, 0.1)
        for group, (kernels, _, _) in groups.items():
            for kernel in kernels:
                fit = bandgp.GP(kernel=kernel, threads=1)
                ours, theirs = medians(3, lambda: fit.fit(t, y), lambda: [value() for _ in range(1000)])
                ratios[group].append(ours / theirs)
                print(f"  {name:<8} {len(t):>6} points  {kernel:<20} whole fit / 1,000 likelihoods {ours / theirs:6.2f}   "
                      f"({fit.status_}, {fit.evaluations_} evaluations)", flush=True)
    for group, (_, median, largest) in groups.items():
        if ratios[group]:
            row(f"{group}: whole fits / 1,000 of celerite2's likelihoods, median", statistics.median(ratios[group]), median)
            row("the same, largest", max(ratios[group]), largest)


if __name__ == "__main__":
    main()
