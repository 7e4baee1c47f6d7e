#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cross-validation: the same folds for all, scores, failures, table, JSON, page, Ctrl-C. cv.py BINARY [NAME]"""

import json
import math
import random
import re
import signal
import subprocess
import sys

from support import SUNSPOTS, close, main, require

FIELDS = ["method", "parameter", "nmse", "nlpd_joint", "nlpd_marginal", "fit_seconds", "predict_seconds", "failures", "per_fold"]


def test_fields(f):
    f.series(n=120)
    result = f.json("cv", "data.csv", "--methods", "band,dual,exact,fitc:20,vfe:20,taper:10,vecchia:10,band:40,auto", "--folds", 3, "--seed", 4)
    require((result["folds"], result["seed"], result["scheme"], result["kernel"]) == (3, 4, "shuffled", "se"), result)
    names = [(m["method"], m["parameter"]) for m in result["methods"]]
    require(names == [("band", None), ("dual", None), ("exact", None), ("fitc", 20), ("vfe", 20), ("taper", 10), ("vecchia", 10),
                      ("band", 40), ("auto", None)], names)
    for method in result["methods"]:
        require(all(field in method for field in FIELDS + ["crps", "coverage_95", "nll", "kernel"]), method.keys())
        require(len(method["per_fold"]) == 3 and method["failures"] == 0, method)
        for score in ("nmse", "nlpd_joint", "nlpd_marginal", "fit_seconds"):
            close(method[score], sum(fold[score] for fold in method["per_fold"]) / 3, 1e-12)
    require(result["series"]["used"] == 120, result["series"])


def test_every_method_sees_the_same_folds(f):
    # band, dual, auto and exact are one model: their scores agree fold by fold only if their folds do.
    f.series(n=150)
    result = f.json("cv", "data.csv", "--methods", "exact,band,dual,auto")
    exact = result["methods"][0]
    for method in result["methods"][1:]:
        for ours, theirs in zip(method["per_fold"], exact["per_fold"]):
            close(ours["nmse"], theirs["nmse"], 1e-3)
            require(abs(ours["nlpd_joint"] - theirs["nlpd_joint"]) < 1e-2, (ours, theirs))
    folds = [fold["nmse"] for fold in exact["per_fold"]]
    require(len(set(folds)) == 5, "folds do not differ")
    other = f.json("cv", "data.csv", "--methods", "band", "--seed", 1)["methods"][0]
    require([fold["nmse"] for fold in other["per_fold"]] != [fold["nmse"] for fold in result["methods"][1]["per_fold"]], "seed")


def test_scores_are_those_of_predictions(f):
    # forward, one fold: learn from the first half, predict the second, by fit and predict.
    f.series(n=80)
    method = f.json("cv", "data.csv", "--methods", "band", "--scheme", "forward", "--folds", 1)["methods"][0]
    lines = (f.path / "data.csv").read_text().splitlines()
    f.write("train.csv", "\n".join(lines[:41]) + "\n")
    f.write("at.csv", "t\n" + "\n".join(line.split(",")[0] for line in lines[41:]) + "\n")
    f.run("fit", "train.csv", "--method", "band", "-o", "m.json")
    truth = [float(line.split(",")[1]) for line in lines[41:]]
    rows = [list(map(float, line.split(","))) for line in f.run("predict", "m.json", "--at", "at.csv", "--quiet").stdout.splitlines()[1:]]
    average = sum(truth) / len(truth)
    nmse = sum((y - r[1]) ** 2 for y, r in zip(truth, rows)) / sum((y - average) ** 2 for y in truth)
    nlpd = sum(0.5 * math.log(2 * math.pi * r[3] ** 2) + 0.5 * ((y - r[1]) / r[3]) ** 2 for y, r in zip(truth, rows)) / len(truth)
    close(method["nmse"], nmse, 1e-4)
    close(method["nlpd_marginal"], nlpd, 1e-3)


def test_threads_do_not_matter(f):
    f.series(n=100)
    def scores(threads):
        result = f.json("cv", "data.csv", "--methods", "band,fitc:20,exact", "--threads", threads)
        return [[fold["nmse"] for fold in method["per_fold"]] for method in result["methods"]]
    require(scores(1) == scores(2), "threads")


def smooth(f, n=200):
    draw = random.Random(3)
    return f.write("smooth.csv", "t,y\n" + "".join(f"{i},{math.sin(i / 40) + 1e-4 * draw.gauss(0, 1)}\n" for i in range(n)))


def test_failures_are_shown(f):
    # The dual is for SE terms.
    f.series(n=100)
    result = f.json("cv", "data.csv", "--methods", "dual,band", "--kernel", "matern32", code=1)
    dual, band = result["methods"]
    require(dual["failures"] == 5 and dual["nmse"] is None and band["failures"] == 0, (dual, band))
    require(all(fold["failure"] for fold in dual["per_fold"]), dual["per_fold"])
    done = f.run("cv", "data.csv", "--methods", "dual,band", "--kernel", "matern32", code=1)
    require("dual, fold 1, failed: " in done.stdout and "5 of 5" in done.stdout, done.stdout)
    require("5 of 10 fits failed" in done.stderr, done.stderr)


def test_a_band_too_narrow_is_told(f):
    smooth(f)
    result = f.json("cv", "smooth.csv", "--methods", "band:2", code=None)["methods"][0]
    require(result["folds_rejecting"] == 5 and not result["valid"], result)


def test_table(f):
    f.series(n=100)
    text = f.run("cv", "data.csv", "--methods", "band,fitc:5").stdout
    lines = [line for line in text.splitlines() if line.startswith(("method", "band", "fitc:5"))]
    require(len(lines) == 3 and len({line.index("N") for line in lines[:1]}) == 1, text)
    require("*" in lines[1], text)
    ends = [[m.end() for m in re.finditer(r"\S+", line.replace("NLPD ", "NLPD_").replace("95 % cover", "95_%_cover").replace(" s ", "_s ").replace("*", " "))][1:4]
            for line in lines]
    require(ends[1] == ends[2], (ends, text))
    require(max(map(len, text.splitlines())) <= 120, text)


def test_mistakes(f):
    f.series()
    for methods, says in (("bnd", "bnd"), ("fitc:0", "fitc"), ("exact:3", "exact has no parameter"), ("fitc:x", "whole number"),
                          ("band,band", "twice"), ("band,,dual", "method"), ("", "method")):
        f.refused("cv", "data.csv", "--methods", methods, says=["--methods", says])
    f.refused("cv", "data.csv", "--scheme", "random", says="shuffled, blocked, forward")
    f.refused("cv", "data.csv", "--folds", 1, says="folds")
    f.refused("cv", "data.csv", "--folds", 1000, says="too few")
    f.refused("cv", "no.csv", says="no.csv")
    f.refused("cv", "data.csv", "--report", "nowhere/out.html", says="nowhere/out.html")
    require(f.files() == ["data.csv"], f.files())


def test_missing_values_and_thinning(f):
    f.series(n=100)
    with open(f.path / "data.csv", "a") as file:
        file.write("200,NA\n50,0.3\n")
    series = f.json("cv", "data.csv", "--methods", "band")["series"]
    require((series["used"], series["dropped"]) == (101, 1), series)
    series = f.json("cv", "data.csv", "--methods", "band", "--thin", 2)["series"]
    require(series["used"] == 50, series)


def test_page(f):
    f.series(n=100)
    f.run("cv", "data.csv", "--methods", "band,fitc:5,fitc:20", "--report", "cv.html")
    page = (f.path / "cv.html").read_text()
    require("bandgp cv data.csv --methods band,fitc:5,fitc:20 --report cv.html" in page and "NMSE" in page, page[:300])


def test_long_work_is_announced_before_the_first_fit_ends(f):
    f.run("simulate", "--n", 4000, "--gap", 1, "--variance", 1, "--lengthscale", 5, "--noise", 0.1, "-o", "s.csv")
    child = subprocess.Popen([f.binary, "cv", "s.csv", "--methods", "exact,band", "--folds", "5"], cwd=f.path,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        first = child.stderr.readline()
    finally:
        child.kill()
        out, _ = child.communicate()
    require(re.fullmatch(r"bandgp: fitting 2 methods to 5 folds takes about \S+ (s|min|h)\n", first) and out == "", (first, out))
    f.series()
    done = subprocess.run([f.binary, "cv", "data.csv", "--methods", "band", "--json"], cwd=f.path, capture_output=True, text=True)
    require(done.returncode == 0 and done.stderr == "", done.stderr)


def test_interrupt_keeps_what_is_done(f):
    sent = []

    def interrupt(child, shown):
        if not sent and re.search(r"[1-9]\d* of 15 fits", shown):
            sent.append(True)
            child.send_signal(signal.SIGINT)

    code, shown = f.terminal("cv", SUNSPOTS, "--methods", "dual,vfe:400,exact", "--threads", 1, while_running=interrupt)
    if sent:
        require(code == 1 and "interrupted: " in shown and "method" in shown, (code, shown[-1500:]))


if __name__ == "__main__":
    sys.exit(main(globals()))
