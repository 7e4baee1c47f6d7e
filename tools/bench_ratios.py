#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the ratios that `./dev bench` is about, from the medians of one run: ours over a peer of the same run.

usage: bench_ratios.py RESULT.json [BENCH_BINARY]     (with the binary: also the peak memory, in a process of its own)
"""
import json
import os
import resource
import subprocess
import sys


def medians(path):
    with open(path) as file:
        result = json.load(file)
    times, rates, counters = {}, {}, {}
    for entry in result["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            name = entry["run_name"]
            times[name] = entry["real_time"]
            rates[name] = entry.get("flops")
            counters[name] = entry.get("nll")
    return times, rates, counters


def main():
    times, rates, counters = medians(sys.argv[1])
    rows = []

    def row(what, value, bar, at_least):
        if value is not None:
            rows.append((what, value, bar, value >= bar if at_least else value <= bar, at_least))

    def ratio(table, a, b):
        return table[a] / table[b] if table.get(a) and table.get(b) else None

    for k, bar in ((16, 4), (32, 4), (64, 4), (128, 1.6), (256, 1.3)):
        row(f"dpbtrf / cholesky, k = {k}", ratio(times, f"dpbtrf/k:{k}", f"cholesky/k:{k}"), bar, True)
    for k, bar in ((32, 0.30), (64, 0.45), (128, 0.60)):
        row(f"cholesky / dgemm in flops, k = {k}", ratio(rates, f"cholesky/k:{k}", "dgemm"), bar, True)
    for k in (32, 64, 128, 256):
        row(f"selected inverse / cholesky, k = {k}", ratio(times, f"selected_inverse/k:{k}", f"cholesky/k:{k}"), 3, False)
    for k, bar in ((32, 2), (64, 1.5)):
        row(f"NLL + gradient / dpbtrf, k = {k}", ratio(times, f"nll_with_gradient/k:{k}/n:200000", f"dpbtrf/k:{k}"), bar, False)
    ten_times = ratio(times, "nll_with_gradient/k:32/n:1000000", "nll_with_gradient/k:32/n:100000")
    row("growth from n = 1e5 to 1e6, over 10", ten_times and ten_times / 10, 1.3, False)
    evaluation = "nll_with_gradient/k:32/n:200000"
    for lemma, name in ((0, "tolerance"), (1, "lemma")):
        row(f"choosing by {name} / NLL + gradient, k = 32", ratio(times, f"choose_cut/k:32/lemma:{lemma}", evaluation), 1, False)
    million = "nll_with_gradient_certified/k:32/n:1000000"
    row("1e6 predictions with variance / NLL + gradient at n = 1e6", ratio(times, "predict_million", million), 1.5, False)

    # The dual and sums: benchmarks with a label for the instance, real time in their names.
    def dual(tenths, n=1_000_000, threads=1):
        return f"nll_auto/tenths:{tenths}/n:{n}/threads:{threads}/real_time"

    peer = "peer_dpbtrf"
    for tenths, bar in ((200, 0.5), (1000, 0.3), (10000, 0.3)):
        row(f"NLL + gradient (auto) / dpbtrf k = 32, l/gap = {tenths // 10}", ratio(times, dual(tenths), peer), bar, False)
    worst = [ratio(times, dual(t), peer) for t in (5, 10, 20, 30, 50, 100, 200, 1000, 10000)]
    if all(worst):
        row("the same, worst over l/gap = 0.5 ... 1000", max(worst), 3, False)
    for kernel, (name, alone, bar) in enumerate((("se(20) + matern12(500)", 200, 3), ("se(200) + matern12(2)", 200, 2.2),
                                                 ("se(30) + matern32(10000)", 200, 3.5), ("se(200) + se(10)", 100, 4.5))):
        row(f"{name} / se({alone // 10})", ratio(times, f"nll_sum/kernel:{kernel}", dual(alone)), bar, False)
    hundred = ratio(times, dual(1000, 10_000_000), dual(1000, 100_000))
    row("growth from n = 1e5 to 1e7 at l/gap = 100, over 100", hundred and hundred / 100, 1.2, False)
    row("whole fit at n = 1e6 / one evaluation", ratio(times, "fit_million", dual(1000)), 25, False)
    for tenths in (200, 1000):
        row(f"two threads: speed-up, l/gap = {tenths // 10}", ratio(times, dual(tenths), dual(tenths, threads=2)), 1.2, True)

    # Training on one fold of the sunspots; names end in what limits the number of runs.
    optima = {name.split("/")[1]: value for name, value in counters.items() if name.startswith("train/")}
    training = {name.split("/")[1]: time for name, time in times.items() if name.startswith("train/")}
    for method, bar in (("band", 50), ("dual", 1000)):
        row(f"training on a sunspot fold: exact / {method}", ratio(training, "exact", method), bar, True)
        for size in (100, 150, 200):
            for other in ("fitc", "vfe"):
                row(f"... {other}, m = {size} / {method}", ratio(training, f"{other}_{size}", method), 1, True)
        optimum = optima.get("exact"), optima.get(method)
        if all(optimum):
            row(f"... NLL reached by {method}, off the exact GP's", abs(optimum[1] - optimum[0]), 0.01, False)
    row("where a band loses: band / dual at l/gap = 100, n = 20000", ratio(times, "nll_wide/band", "nll_wide/dual"), 1, True)

    if len(sys.argv) > 2 and times.get("nll_with_gradient/k:32/n:1000000"):
        name = "nll_with_gradient/k:32/n:1000000"
        subprocess.run([sys.argv[2], f"--benchmark_filter=^{name}$", "--benchmark_min_time=0.01"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        row("peak memory / 8 n (k+1), n = 1e6, k = 32", peak / (8 * 1e6 * 33), 2.5, False)

    print(f"{'':58} {'ratio':>7}   bar")
    for what, value, bar, passed, at_least in rows:
        print(f"{what:58} {value:7.2f}   {'≥' if at_least else '≤'} {bar:<5g} {'' if passed else 'MISSED'}")
    print(f"{sum(r[3] for r in rows)} of {len(rows)} bars passed")


if __name__ == "__main__":
    main()
