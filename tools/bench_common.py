# SPDX-License-Identifier: Apache-2.0
"""What the scripts tools/bench_*.py share: how bandgp is set, and how times are taken beside another package."""

import statistics
import time

CUT = dict(method="auto", tolerance=0.01, bandwidth="auto", reach=None, inducing=None, move_inducing=False, neighbours=None,
           taper_range=None, taper=None)


def medians(rounds, *calls):
    """The median seconds of each call, the calls taking turns."""
    seconds = [[] for _ in calls]
    for _ in range(rounds):
        for call, list_of in zip(calls, seconds):
            begin = time.perf_counter()
            call()
            list_of.append(time.perf_counter() - begin)
    return [statistics.median(s) for s in seconds]
