#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bandgp simulate: simulate.py BINARY [NAME]"""

import math
import sys

from support import main, require

AT = ["--variance", "2", "--lengthscale", "5", "--noise", "0.1"]


def rows(text):
    header, *lines = text.splitlines()
    require(header == "time,value", header)
    return [tuple(map(float, line.split(","))) for line in lines]


def test_same_seed_same_file(f):
    flags = ["simulate", "--n", 5000, "--gap", 0.5, *AT]
    one = f.run(*flags, "--seed", 3).stdout
    require(one == f.run(*flags, "--seed", 3, "--threads", 4).stdout, "threads")
    require(one != f.run(*flags, "--seed", 4).stdout, "another seed")
    f.run(*flags, "--seed", 3, "-o", "s.csv")
    require((f.path / "s.csv").read_text() == one and f.files() == ["s.csv"], f.files())
    require([t for t, _ in rows(one)] == [0.5 * i for i in range(5000)], "times")
    result = f.json(*flags, "--seed", 3)
    require(list(result) == ["rows", "time", "value"] and list(zip(result["time"], result["value"])) == rows(one), "json")


def test_a_fit_finds_the_parameters_again(f):
    for kernel in ("se", "matern12", "matern32", "matern52", "wendland4"):
        f.run("simulate", "--n", 4000, "--gap", 1, "--kernel", f"2*{kernel}(lengthscale=9)", "--noise", 0.1, "--seed", 1, "-o", "s.csv")
        result = f.json("fit", "s.csv", "--kernel", kernel)
        for name, value in (("variance", 2), ("lengthscale", 9), ("noise", 0.1)):
            error = result["standard_errors"][name]
            require(abs(result[name] - value) < 4.5 * error, (kernel, name, result[name], error))
        # 4000 points: 95 % to 0.35 %, at one standard deviation.
        require(abs(result["leave_one_out"]["coverage_95"] - 0.95) < 0.02, (kernel, result["leave_one_out"]))


def test_offset_start_and_irregular_gaps(f):
    plain = rows(f.run("simulate", "--n", 200, "--gap", 2, *AT).stdout)
    moved = rows(f.run("simulate", "--n", 200, "--gap", 2, *AT, "--start", 1749, "--offset", 1000).stdout)
    for (t, y), (s, z) in zip(plain, moved):
        require(s == t + 1749 and abs(z - y - 1000) < 1e-9, (t, y, s, z))
    loose = rows(f.run("simulate", "--n", 2000, "--gap", 2, *AT, "--irregular").stdout)
    gaps = [b[0] - a[0] for a, b in zip(loose, loose[1:])]
    require(0.2 - 1e-9 <= min(gaps) < 0.4 and 3.6 < max(gaps) <= 3.8 + 1e-9 and abs(sum(gaps) / len(gaps) - 2) < 0.15, "gaps")


def test_noise_is_what_was_asked_for(f):
    with_noise = rows(f.run("simulate", "--n", 20000, "--gap", 1, *AT).stdout)
    without = rows(f.run("simulate", "--n", 20000, "--gap", 1, *AT[:4], "--noise", 0).stdout)
    square = sum((a[1] - b[1]) ** 2 for a, b in zip(with_noise, without)) / 20000
    require(abs(square / 0.1 - 1) < 5 * math.sqrt(2 / 20000), square)


def test_long_series_and_long_length_scales(f):
    f.run("simulate", "--n", 1e6, "--gap", 1, "--variance", 1, "--lengthscale", 1000, "--noise", 0.01, "-o", "s.csv")
    with open(f.path / "s.csv") as file:
        require(sum(1 for _ in file) == 1000001, "rows")


def test_mistakes(f):
    f.refused("simulate", says="--n")
    f.refused("simulate", "--n", 10, "--gap", 1, says="variance, lengthscale and noise have no value: give them")
    f.refused("simulate", "--n", 10, *AT, says="--gap")
    for flag in ("--n=0", "--n=-1", "--n=1.5", "--gap=0", "--gap=-1", "--gap=nan", "--noise=-1", "--seed=-1", "--start=x", "--offset=inf",
                 "--lengthscale=0"):
        given = {"--n": "10", "--gap": "1", "--variance": "1", "--lengthscale": "1", "--noise": "1"}
        given.update([flag.split("=")])
        f.refused("simulate", *[f"{k}={v}" for k, v in given.items()], says=flag.split("=")[0])
    f.refused("simulate", "--n", 10, "--gap", 1, "--start", 1e30, *AT, says="--gap 1 is lost")
    f.refused("simulate", "--n", 1e13, "--gap", 1, *AT, says=["--n 1", "GB"])
    f.refused("simulate", "--n", 1e6, "--gap", 1e-6, "--kernel", "1*wendland2(lengthscale=1)", "--noise", 0.1, says="GB")
    f.refused("simulate", "--n", 10, "--gap", 1, *AT, "-o", "no/such.csv", says="no/such.csv")
    require(f.files() == [], f.files())


if __name__ == "__main__":
    sys.exit(main(globals()))
