#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The periodogram against astropy's fast Lomb-Scargle on the same grid, in one process: ratios of medians of runs that take turns.

usage: bench_astropy.py [--rounds 5] [--points 1000000]

Both fit a constant mean beside every sinusoid; both use one thread. How far each is from least squares, point by point at some
frequencies, is told beside the time.
"""
import argparse
import statistics
import time

import astropy
import numpy as np
from astropy.timeseries import LombScargle

import bandgp
from bandgp import _core
from bandgp._tools import series_of


def direct(t, y, weight, frequency):
    """Least squares with a constant, a cosine and a sine."""
    root = np.sqrt(weight)
    columns = np.stack([np.ones_like(t), np.cos(2 * np.pi * frequency * t), np.sin(2 * np.pi * frequency * t)], axis=1)
    _, left, _, _ = np.linalg.lstsq(columns * root[:, None], y * root, rcond=None)
    none = np.sum(weight * (y - np.sum(weight * y)) ** 2)
    return 1 - left[0] / none


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--points", type=int, default=1_000_000)
    given = parser.parse_args()
    random = np.random.default_rng(0)
    n = given.points
    t = np.cumsum(random.exponential(1.0, n))
    error = random.uniform(0.5, 2, n)
    y = 3 + 0.01 * np.sin(2 * np.pi * t / 25.7) + error * random.normal(size=n)
    span = t[-1] - t[0]
    step = 1 / (4 * span)
    count = int(0.5 / np.median(np.diff(t)) / step)
    frequency = step * (4 + np.arange(count - 3))

    seconds = {"bandgp": [], "astropy": []}
    for _ in range(given.rounds):
        begin = time.perf_counter()
        ours = _core.spectrum(series_of(t, y, error, "constant"), mean="constant", step=step, first=4, count=len(frequency))
        middle = time.perf_counter()
        theirs = LombScargle(t, y, error).power(frequency, method="fast", assume_regular_frequency=True)
        end = time.perf_counter()
        seconds["bandgp"].append(middle - begin)
        seconds["astropy"].append(end - middle)
    ratio = statistics.median(seconds["bandgp"]) / statistics.median(seconds["astropy"])
    print(f"astropy {astropy.__version__}, bandgp {bandgp.__version__}, {n} irregular points, {len(frequency)} frequencies")
    print(f"  periodogram / astropy's fast Lomb-Scargle, seconds {statistics.median(seconds['bandgp']):.2f} / "
          f"{statistics.median(seconds['astropy']):.2f}: {ratio:.2f}   <= 1 {'' if ratio <= 1 else '  MISSED'}")
    weight = 1 / error**2
    weight /= weight.sum()
    chosen = np.append(random.integers(0, len(frequency), 10), np.argmax(theirs))
    truth = np.array([direct(t - t[0], y, weight, frequency[i]) for i in chosen])
    print(f"  largest error at {len(chosen)} frequencies, share of the variance: bandgp {np.max(np.abs(ours[chosen] - truth)):.1e}, "
          f"astropy {np.max(np.abs(theirs[chosen] - truth)):.1e}; highest power {theirs.max():.1e}")


if __name__ == "__main__":
    main()
