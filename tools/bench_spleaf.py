#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""se*periodic against S+LEAF's quasi-periodic kernel, in one process: ratios of medians of runs that take turns.

usage: bench_spleaf.py [--rounds 3] [--points 1000000]

S+LEAF's ESP kernel with two harmonics stands in for the quasi-periodic kernel (an approximation); its value and
its gradient are set against bandgp's value, gradient and certificate of the exact one to 0.01 nats, on one thread.
The length-scale is 1000 mean gaps and the period 100. What the smoothnesses 0.5 and 2 take is told, without a bar,
and the most memory that the process had.
"""
import argparse
import importlib.metadata
import resource

import numpy as np
from spleaf import cov, term

import bandgp
from bench_common import CUT, medians
from bandgp import _core
from bandgp._options import make_cut
from bandgp._tools import series_of

LENGTHSCALE, PERIOD, NOISE = 1000.0, 100.0, 0.1


def spleaf_value_and_gradient(t, y, smoothness):
    """With everything that does not depend on the parameters done before."""
    process = cov.Cov(t, err=term.Error(np.full(len(t), np.sqrt(NOISE))),
                      gp=term.ESPKernel(1.0, PERIOD, LENGTHSCALE, smoothness, nharm=2))
    start = process.get_param()

    def call():
        process.set_param(start)
        process.loglike(y)
        process.loglike_grad()

    return call


def bandgp_value_and_gradient(smoothness, t, y):
    kernel = f"1*se(lengthscale={LENGTHSCALE})*periodic(period={PERIOD}, smoothness={smoothness})"
    loss = _core.Loss(series_of(t, y, None, "zero"), "zero", make_cut(kernel=kernel, **CUT), 1)

    def call():
        return loss(kernel, NOISE, True)

    call()  # takes the memory
    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--points", type=int, default=1_000_000)
    given = parser.parse_args()
    random = np.random.default_rng(0)
    n = given.points
    t = np.cumsum(random.uniform(0.1, 1.9, n))
    y = np.sin(2 * np.pi * t / PERIOD) + 0.3 * np.sin(4 * np.pi * t / PERIOD + 1e-3 * t) + 0.3 * random.normal(size=n)
    print(f"spleaf {importlib.metadata.version('spleaf')}, bandgp {bandgp.__version__}, {n} irregular points", flush=True)
    theirs = spleaf_value_and_gradient(t, y, 1.0)
    for smoothness in (2.0, 1.0, 0.5):
        ours, peer = medians(given.rounds, bandgp_value_and_gradient(smoothness, t, y), theirs)
        bar = "<= 0.7" + ("" if ours / peer <= 0.7 else "   MISSED") if smoothness == 1.0 else ""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"  se*periodic, smoothness {smoothness}: {ours:.2f} s against {peer:.2f} s: {ours / peer:6.3f}   {bar}"
              f"   ({memory:.1f} GB at most so far)", flush=True)


if __name__ == "__main__":
    main()
