#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the real binary, each case in a fresh folder: run.py BINARY [NAME]

Reading, nll, bandwidth, fit. A case is a function below whose name starts with test_; it gets a Folder.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from support import ROOT, SUNSPOTS, Skip, close, main, require

AT = ["--variance", "1", "--lengthscale", "3", "--noise", "0.1"]


# --- the programme -----------------------------------------------------------------------------------------------------

def test_a_plan_tells_where_every_term_is_held(f):
    f.series(n=400)
    def plan(kernel, *more, code=0):
        return f.json("nll", "data.csv", "--kernel", kernel, "--noise", 0.1, "--plan", *more, code=code)
    for kernel, method, where in (("1*se(lengthscale=20) + 1*matern32(lengthscale=50)", "elements", ["grid", "states"]),
                                  ("1*se(lengthscale=20)", "dual", ["grid"]),
                                  ("1*se(lengthscale=1)", "band", ["band"]),
                                  ("1*matern12(lengthscale=3)", "markov", ["states"]),
                                  ("1*periodic(period=20, smoothness=1)", "columns", ["columns"]),
                                  ("1*periodic(period=20, smoothness=1) + 1*matern12(lengthscale=3)", "markov", ["columns", "states"]),
                                  ("1*se(lengthscale=20) + 1*periodic(period=9, smoothness=1)", "dual", ["grid", "columns"])):
        told = plan(kernel)
        require(told["method"] == method and [t["where"] for t in told["terms"]] == where, told)
        require(told["bytes"] > 0 and told["evaluation_seconds"] > 0 and all(t["rows"] > 0 for t in told["terms"]), told)
        done = f.json("nll", "data.csv", "--kernel", kernel, "--noise", 0.1)
        require(done["method"] == method, done)
    text = f.run("nll", "data.csv", "--kernel", "1*se(lengthscale=20) + 1*matern32(lengthscale=50)", "--noise", 0.1, "--plan").stdout
    require("Gaussians on a grid" in text and "2 states" in text and "NLL" not in text, text)
    columns = [plan(f"1*periodic(period=20, smoothness={smoothness})", "--tolerance", tolerance)["terms"][0]["rows"]
               for smoothness, tolerance in ((2, 0.1), (1, 0.1), (1, 1e-8), (0.1, 1e-8))]
    require(columns == sorted(set(columns)) and all(c % 2 == 1 for c in columns), columns)
    refused = plan("1*se(lengthscale=20)", "--max-bytes", "10kB", code=1)
    require("allowed" in refused["message"], refused)
    f.refused("nll", "data.csv", "--kernel", "1*se(lengthscale=20)", "--noise", 0.1, "--max-bytes", "much", says="--max-bytes")


def test_help_of_everything_shows_an_example(f):
    for command in ([], ["fit"], ["report"], ["nll"], ["bandwidth"], ["info"]):
        for flag in ("--help", "-h"):
            text = f.run(*command, flag).stdout
            require("Usage: bandgp" in text and "Example" in text, text)
            require(max(map(len, text.splitlines())) <= 130, text)


def test_version(f):
    require(f.run("--version").stdout.startswith("bandgp 0."), "no version")


def test_info(f):
    info = f.json("info")
    require(list(info) == ["version", "instruction_set", "instruction_sets", "threads"], info)
    require(info["instruction_set"] in info["instruction_sets"] and info["threads"] >= 1, info)
    require(f.json("info", "--threads", 3)["threads"] == 3, "threads")
    require(info["version"] in f.run("info").stdout, "no version")
    f.refused("info", "--threads", 0, says="--threads is 0")


def test_usage_errors_are_one_line(f):
    f.refused(says="which command?")
    f.refused("frob", says="frob")
    f.refused("fit", says="FILE")
    f.refused("fit", "a.csv", "b.csv", says="b.csv")
    f.refused("fit", "a.csv", "--frobnicate", says="--frobnicate")
    f.refused("nll", "a.csv", "--noise", says="--noise")
    f.refused("--json", "fit", "a.csv", says="--json is not for bandgp itself: options follow the command")


def test_typos_are_told_from_what_there_is(f):
    for words, meant in ((["fitt", "a.csv"], 'no command "fitt"; did you mean fit?'),
                         (["perdict", "m.json"], "did you mean predict?"),
                         (["fit", "a.csv", "--methd", "dual"], "fit has no option --methd; did you mean --method?"),
                         (["fit", "a.csv", "--kernle=se"], "fit has no option --kernle; did you mean --kernel?"),
                         (["fit", "a.csv", "-y", "flux"], "fit has no option -y; did you mean --y? (see bandgp fit --help)"),
                         (["fit", "a.csv", "--noise"], "(see bandgp fit --help)"),
                         (["nll", "a.csv", "--noise"], "(see bandgp nll --help)"),
                         (["frob"], "(see bandgp --help)")):
        f.refused(*words, says=meant)
    for words in (["frob"], ["fit", "a.csv", "--frobnicate"], ["fit", "a.csv", "b.csv"]):
        text = f.refused(*words, says="bandgp: ")
        require("did you mean" not in text, text)


# --- report ------------------------------------------------------------------------------------------------------------

def report_json(path):
    """What a page holds, without what differs from run to run."""
    page = path.read_text()
    begin = page.index('<script type="application/json" id="report">')
    text = page[page.index(">", begin) + 1:page.index("</script>", begin)]
    report = json.loads(text)
    static = page[:begin] + page[begin + len(text):]  # the page itself and all arrays
    return {key: value for key, value in report.items() if key not in ("command", "created")}, static


def test_report_of_fit_and_of_the_saved_model_are_equal(f):
    # A series that the model file holds, one that it does not, and a sum.
    long = f.series("long.csv", n=3000, gap=0.05)
    for name, file, flags, kept in (("a", f.series(), (), True), ("b", long, (), False),
                                    ("c", f.series("errors.csv", n=80, error=0.2), ("--kernel", "se + matern32", "--yerr", 3), True)):
        f.run("fit", file, *flags, "-o", f"{name}.json", "--report", f"{name}.html", "--quiet")
        has_data = json.loads((f.path / f"{name}.json").read_text())["blocks"] is not None
        require(has_data == kept, f"{name}: data in the file: {has_data}")
        columns = ("--yerr", 3) if name == "c" else ()
        f.run("report", f"{name}.json", "--data", file, *columns, "-o", f"{name}2.html", "--quiet")
        first, second = report_json(f.path / f"{name}.html"), report_json(f.path / f"{name}2.html")
        require(first[0] == second[0], [key for key in first[0] if first[0][key] != second[0][key]])
        require(first[1] == second[1], f"{name}: the pages differ outside of their numbers")
        if kept:
            f.run("report", f"{name}.json", "-o", f"{name}3.html", "--quiet")
            require(report_json(f.path / f"{name}3.html") == first, f"{name}: without --data the page is another")


def test_report_says_where_it_is(f):
    text = f.run("fit", f.series(), "-o", "m.json", "--report", "out.html").stdout
    require("Report      written to out.html" in text, text)
    text = f.run("report", "m.json").stdout
    require(text.startswith("Report      m.html, 0.") and "m.html" in f.files(), text)
    require(f.run("report", "m.json", "--quiet").stdout == "", "--quiet")
    page = f.run("report", "m.json", "-o", "-").stdout
    require(page.startswith("<!doctype html>") and page.endswith("</html>\n"), page[:100])
    page = f.run("fit", "data.csv", "--report", "-").stdout
    require(page.startswith("<!doctype html>") and page.endswith("</html>\n"), page[:100])


def test_report_without_the_data_says_how_to_give_them(f):
    f.series("long.csv", n=3000, gap=0.05)
    f.run("fit", "long.csv", "-o", "m.json", "--quiet")
    f.run("report", "m.json", "--quiet")
    report, _ = report_json(f.path / "m.html")
    require(report["points"] is None and report["curve"]["count"] > 100, report["curve"])
    require("--data FILE" in report["remark"], report["remark"])
    require(len(report["trace"]["nll"]) == report["fit"]["evaluations"], "the trace is not in the file")
    before = (f.path / "m.html").read_text()
    f.refused("report", "m.json", says=["m.html is there already", "--data FILE", "-o m.html"])
    require((f.path / "m.html").read_text() == before, "the page was touched")
    f.run("report", "m.json", "-o", "m.html", "--quiet")


def test_report_refuses_other_data(f):
    f.series("long.csv", n=3000, gap=0.05)
    f.run("fit", "long.csv", "-o", "m.json", "--quiet")
    lines = (f.path / "long.csv").read_text().splitlines()
    f.write("short.csv", "\n".join(lines[:-1]) + "\n")
    f.write("moved.csv", "\n".join([lines[0]] + [f"{float(t) + 1},{y}" for t, y in (line.split(",") for line in lines[1:])]) + "\n")
    lines[1500] = lines[1500].split(",")[0] + ",7"
    f.write("other.csv", "\n".join(lines) + "\n")
    for file, says in (("short.csv", "has 2999 observations, the model was fitted to 3000"), ("moved.csv", "it goes from 1 to"),
                       ("other.csv", "other times, values or errors")):
        f.refused("report", "m.json", "--data", file, says=[file, "is not the series of m.json", says])
    f.series("small.csv")
    f.run("fit", "small.csv", "-o", "s.json", "--quiet")
    f.refused("report", "s.json", "--data", "long.csv", says="is not the series of s.json")
    f.refused("report", "long.csv", says="not a bandgp model")
    f.refused("report", "none.json", says="none.json")
    f.refused("report", "-", says="-o out.html", stdin="")
    f.refused("report", says="MODEL")
    require(not [name for name in f.files() if name.endswith(".html")], f.files())


def test_report_is_written_whole_or_not_at_all(f):
    f.series()
    before = f.files()
    f.refused("fit", "data.csv", "--report", "none/out.html", says=["cannot write none/out.html", "No such file"])
    f.refused("fit", "data.csv", "-o", "m.json", "--report", "none/out.html", says="none/out.html")
    f.refused("fit", "data.csv", "-o", "-", "--report", "-", says="standard output")
    require(f.files() == before, f.files())  # told before the work: no model either
    (f.path / "folder.html").mkdir()
    f.refused("fit", "data.csv", "--report", "folder.html", says="Is a directory")
    f.run("fit", "data.csv", "-o", "m.json", "--quiet")
    f.refused("report", "m.json", "-o", "none/out.html", says="cannot write none/out.html")
    f.refused("report", "m.json", "-o", "m.json", says="would replace the model")
    if os.path.exists("/dev/full"):
        done = f.run("fit", "data.csv", "--report", "/dev/full", "--json", code=None)
        require(done.returncode == 2 and "No space left" in done.stderr, done.stderr)
        require(json.loads(done.stdout)["status"] == "converged", "the result is lost with the report")
    f.write("old.html", "old")
    f.run("fit", "data.csv", "--report", "old.html", "--quiet")
    require((f.path / "old.html").read_text().startswith("<!doctype html>"), "not replaced")
    require(f.files() == sorted(["data.csv", "folder.html", "m.json", "old.html"]), f.files())


def test_report_command_is_quoted_for_a_shell(f):
    name = "it's a $(file) & \"more\".csv"
    f.series(name)
    f.run("fit", name, "--kernel", "se + matern12", "--quiet", "--report", "out.html")
    command = json.loads((f.path / "out.html").read_text().split('id="report">')[1].split("</script>")[0])["command"]
    words = subprocess.run(["bash", "-c", f"bandgp() {{ printf '%s\\0' \"$@\"; }}; {command}"], capture_output=True,
                           text=True, check=True).stdout.split("\0")[:-1]
    require(words == ["fit", name, "--kernel", "se + matern12", "--quiet", "--report", "out.html"], command)


# --- nll ---------------------------------------------------------------------------------------------------------------

NLL = ["n", "method", "bandwidth", "nll", "evaluation_seconds", "gradient", "certificate"]
BOUNDS = ["positive_definite", "rho", "nll_error", "mean_error", "variance_error"]


def dense_nll(times, values, variance, lengthscale, noise):
    """Zero mean, SE kernel, by Cholesky."""
    n = len(times)
    a = [[variance * math.exp(-0.5 * ((s - t) / lengthscale) ** 2) + (noise if i == j else 0)
          for j, t in enumerate(times)] for i, s in enumerate(times)]
    total = 0.5 * n * math.log(2 * math.pi)
    z = []
    for i in range(n):
        for j in range(i + 1):
            a[i][j] -= sum(a[i][k] * a[j][k] for k in range(j))
            a[i][j] = math.sqrt(a[i][i]) if i == j else a[i][j] / a[j][j]
        z.append((values[i] - sum(a[i][k] * z[k] for k in range(i))) / a[i][i])
        total += math.log(a[i][i]) + 0.5 * z[i] ** 2
    return total


def test_nll_fields_and_their_order(f):
    result = f.json("nll", f.series(), *AT)
    require(list(result)[:7] == NLL, list(result))
    require(list(result["gradient"]) == ["log_variance", "log_lengthscale", "log_noise"], result)
    require(list(result["certificate"]) == BOUNDS, result)
    require(result["n"] == 60 and result["method"] == "band", result)
    require(result["certificate"]["positive_definite"] is True, result)
    require(0 < result["certificate"]["nll_error"] <= 0.01, result)
    require("distinct_times" not in result, result)


def test_nll_is_the_dense_one(f):
    rows = [line.split(",") for line in (f.path / f.series()).read_text().splitlines()[1:]]
    truth = dense_nll([float(r[0]) for r in rows], [float(r[1]) for r in rows], 1, 3, 0.1)
    result = f.json("nll", "data.csv", *AT, "--mean", "zero")
    require(abs(result["nll"] - truth) <= result["certificate"]["nll_error"] + 1e-9, (result, truth))
    whole = f.json("nll", "data.csv", *AT, "--mean", "zero", "--bandwidth", 59)
    require(abs(whole["nll"] - truth) < 1e-9 * abs(truth), (whole, truth))
    require(whole["certificate"]["nll_error"] == 0 and whole["bandwidth"] == 59, whole)


def test_nll_gradient_is_its_slope(f):
    f.series()
    flags = ["--mean", "linear", "--bandwidth", 40]

    def at(v, l, s):
        return f.json("nll", "data.csv", "--variance", repr(v), "--lengthscale", repr(l), "--noise", repr(s), *flags)
    h = 1e-4
    up, down = math.exp(h), math.exp(-h)
    gradient = at(1.0, 3.0, 0.1)["gradient"]
    for name, theta in (("variance", 0), ("lengthscale", 1), ("noise", 2)):
        high, low = [1.0, 3.0, 0.1], [1.0, 3.0, 0.1]
        high[theta] *= up
        low[theta] *= down
        slope = (at(*high)["nll"] - at(*low)["nll"]) / (2 * h)
        require(abs(slope - gradient["log_" + name]) < 1e-5, (name, slope, gradient))


def test_nll_by_kernel_text(f):
    f.series()
    one = f.json("nll", "data.csv", *AT)
    two = f.json("nll", "data.csv", "--kernel", "1*se(lengthscale=3)", "--noise", 0.1)
    mixed = f.json("nll", "data.csv", "--kernel", "se(lengthscale=3)", "--variance", 1, "--noise", 0.1)
    require(one["nll"] == two["nll"] == mixed["nll"], (one, two, mixed))
    sums = f.json("nll", "data.csv", "--kernel", "0.5*se(lengthscale=3) + 0.5*se(lengthscale=3)", "--noise", 0.1)
    close(sums["nll"], one["nll"], 1e-4)
    require(list(sums["gradient"]) == ["log_variance_1", "log_lengthscale_1", "log_variance_2", "log_lengthscale_2",
                                       "log_noise"], sums)


def test_nll_text_for_people(f):
    text = f.run("nll", f.series(), *AT).stdout
    for part in ("60 rows, 60 used", "NLL", "log_lengthscale", "nats", "neighbours a side"):
        require(part in text, text)


def test_nll_band_too_narrow_is_an_outcome(f):
    f.series(n=200, gap=0.1)
    result = f.json("nll", "data.csv", *AT, "--bandwidth", 4, code=1)
    require(list(result)[:7] == NLL, list(result))
    require(result["n"] == 200 and result["bandwidth"] == 4, result)
    require(result["nll"] is None and result["gradient"] is None, result)
    require(result["certificate"] == dict(zip(BOUNDS, [False, None, None, None, None])), result)
    require("not positive definite" in result["message"], result)
    require("not positive definite" in f.run("nll", "data.csv", *AT, "--bandwidth", 4, code=1).stdout, "text")


def test_nll_without_certificate_is_an_outcome(f):
    f.series(n=60)
    for flags in (["--kernel", "matern12", "--bandwidth", 8], ["--bandwidth", 0]):  # still positive definite
        result = f.json("nll", "data.csv", *AT, *flags, code=1)
        require(result["nll"] is not None and list(result["gradient"].values()).count(None) == 0, result)
        require(result["certificate"] == dict(zip(BOUNDS, [True, None, None, None, None])), result)
        require("no certificate" in result["message"], result)
        require("no certificate" in f.run("nll", "data.csv", *AT, *flags, code=1).stdout, "text")


def test_bandwidth_choices(f):
    f.series()
    widths = {rule: f.json("nll", "data.csv", *AT, "--bandwidth", rule)["bandwidth"]
              for rule in ("auto", "corollary", "theorem", "lemma", 20)}
    rules = f.json("bandwidth", "data.csv", *AT)
    require(widths["corollary"] == rules["corollary"] and widths["theorem"] == rules["theorem"], (widths, rules))
    require(widths["lemma"] == rules["lemma"] and widths[20] == 20, (widths, rules))
    require(widths["auto"] == rules["tolerance"]["bandwidth"], (widths, rules))
    require(f.json("nll", "data.csv", *AT, "--bandwidth", 1000)["bandwidth"] == 59, "clipped to n - 1")
    require(f.json("nll", "data.csv", *AT, "--bandwidth", 60)["bandwidth"] == 59, "clipped to n - 1")
    require(f.json("nll", "data.csv", *AT, "--reach", 17.5)["bandwidth"] == 17, "reach")
    tight = f.json("nll", "data.csv", *AT, "--tolerance", 1e-8)
    require(tight["certificate"]["nll_error"] <= 1e-8 and tight["bandwidth"] > widths["auto"], tight)


def test_threads_and_seed_change_nothing(f):
    f.series()
    one = f.json("nll", "data.csv", *AT, "--threads", 1, "--seed", 1, "--method", "band")
    two = f.json("nll", "data.csv", *AT, "--threads", 4, "--seed", 2)
    require(one["nll"] == two["nll"] and one["gradient"] == two["gradient"], (one, two))


def test_known_errors_stand_for_noise(f):
    f.series("plain.csv")
    f.series("errors.csv", error=math.sqrt(0.1))
    one = f.json("nll", "plain.csv", *AT)
    two = f.json("nll", "errors.csv", "--kernel", "1*se(lengthscale=3)", "--noise", 0, "--yerr", "e")
    close(two["nll"], one["nll"], 1e-12)
    f.refused("nll", "plain.csv", "--kernel", "1*se(lengthscale=3)", "--noise", 0, says="noise must be positive")


def test_equal_times_are_merged_exactly(f):
    f.write("ties.csv", "0,1\n1,2\n1,2.5\n2,0.5\n")
    result = f.json("nll", "ties.csv", "--variance", 1, "--lengthscale", 1, "--noise", 0.2, "--mean", "zero")
    require(result["n"] == 4 and result["distinct_times"] == 3, result)
    close(result["nll"], dense_nll([0, 1, 1, 2], [1, 2, 2.5, 0.5], 1, 1, 0.2), 1e-12)


def test_standard_input(f):
    text = (f.path / f.series()).read_text()
    require(f.json("nll", "-", *AT, stdin=text)["nll"] == f.json("nll", "data.csv", *AT)["nll"], "nll")
    f.refused("nll", "-", *AT, stdin="t,y\n1,2\n2,x\n", says="standard input:3")
    f.refused("nll", "-", *AT, stdin="", says="no data rows")


# --- input -------------------------------------------------------------------------------------------------------------

def test_columns(f):
    f.write("c.csv", "a;b;c;err\n" + "".join(f"{math.sin(i):.6f};{i};{math.cos(i):.6f};0.3\n" for i in range(30)))
    by_name = f.json("nll", "c.csv", *AT, "--x", "b", "--y", "c", "--yerr", "err")
    by_number = f.json("nll", "c.csv", *AT, "--x", 2, "--y", 3, "--yerr", 4)
    require(by_name["nll"] == by_number["nll"], (by_name, by_number))
    stepped = f.json("nll", "c.csv", *AT, "--y", "c", "--step", 1, "--yerr", "err")
    close(stepped["nll"], by_name["nll"], 1e-12)
    f.refused("nll", "c.csv", *AT, "--y", "flux", says=["c.csv", "no column", "flux", "a, b, c, err"])
    f.refused("nll", "c.csv", *AT, "--y", 9, says="no column")
    f.refused("nll", "c.csv", *AT, "--step", -1, says="--step is -1")
    f.refused("nll", "c.csv", *AT, "--step", 1, "--x", "b", says="only one")


def test_malformed_lines_are_named(f):
    f.write("bad.csv", "t,y\n1,2\n2,3\n3,12;5\n4,2\n")
    f.refused("nll", "bad.csv", *AT, says=["bad.csv:4", "12;5", "not a number"])
    f.refused("fit", "bad.csv", says=["bad.csv:4", "(column y); --skip-bad drops such lines and counts them"])
    f.refused("bandwidth", "bad.csv", *AT, says="bad.csv:4")
    require(f.json("nll", "bad.csv", *AT, "--skip-bad")["n"] == 3, "skipped")
    f.write("far.csv", "1,2\n2,1e999\n")
    f.refused("nll", "far.csv", *AT, says="far.csv:2")
    f.write("lab.csv", "a,b\nx,1\ny,2\n")
    text = f.refused("fit", "lab.csv", says='lab.csv:2: "x" is neither a number nor a date (column a); --x names the column of times')
    require("--skip-bad" not in text, text)
    f.write("comma.csv", "t;y\n1;2\n2;3,5\n")
    require("--skip-bad" not in f.refused("fit", "comma.csv", says="decimal commas"), "what helps is another thing")


def test_files_that_cannot_be_read(f):
    for command in (["fit"], ["nll", *AT], ["bandwidth", *AT]):
        f.refused(*command, "missing.csv", says=["missing.csv", "No such file"])
        f.refused(*command, ".", says="Is a directory")
    for name, text in (("empty.csv", ""), ("header.csv", "t,y\n")):
        f.write(name, text)
        f.refused("nll", name, *AT, says="no data rows")
        f.refused("fit", name, says="no data rows")
    f.write("nan.csv", "t,y\n1,nan\n2,NA\n3,\n")
    f.refused("nll", "nan.csv", *AT, says=["nan.csv", "3 rows"])
    f.refused("fit", "nan.csv", says="nan.csv")


def test_one_point(f):
    f.write("one.csv", "5,2\n")
    result = f.json("nll", "one.csv", *AT, "--mean", "zero")
    require(result["n"] == 1 and result["bandwidth"] == 0, result)
    close(result["nll"], 0.5 * (4 / 1.1 + math.log(1.1) + math.log(2 * math.pi)), 1e-12)
    rules = f.json("bandwidth", "one.csv", *AT)
    require(rules["min_gap"] is None and rules["lemma"] == 0 and rules["tolerance"]["bandwidth"] == 0, rules)
    f.refused("nll", "one.csv", *AT, "--mean", "linear", says="two different times")
    f.refused("fit", "one.csv", says="one observation is not enough")


def test_all_values_equal(f):
    f.write("flat.csv", "".join(f"{i},7\n" for i in range(20)))
    f.refused("fit", "flat.csv", says=["equal", "7"])
    require(f.json("nll", "flat.csv", *AT)["n"] == 20, "nll")


def test_all_times_equal(f):
    f.write("same.csv", "".join(f"3,{math.sin(i):.4f}\n" for i in range(20)))
    result = f.json("nll", "same.csv", *AT)
    require(result["n"] == 20 and result["distinct_times"] == 1, result)
    done = subprocess.run([f.binary, "fit", "same.csv", "--json"], cwd=f.path, capture_output=True, text=True, timeout=120)
    require(done.returncode in (0, 1, 2) and (done.returncode == 2) == (done.stdout == ""), done)


def test_unsorted_missing_and_thinned_rows_are_counted(f):
    rows = [f"{(i * 7) % 50 + 0.25 * (i % 2)},{math.sin(i):.5f}\n" for i in range(50)]
    f.write("m.csv", "t,y\n" + "".join(rows) + "3,\n60,nan\n")
    series = f.json("fit", "m.csv", "--thin", 0.9)["series"]
    require(series["rows"] == 52 and series["dropped"] == 2 and series["sorted"] is False, series)
    require(series["used"] == 50 - series["thinned"] and series["thinned"] > 0, series)


# --- what the flags may say --------------------------------------------------------------------------------------------

def test_numbers_that_are_refused(f):
    f.series()
    for flag in ("--variance", "--lengthscale", "--noise"):
        for value in ("-1", "0" if flag != "--noise" else "-0.5", "nan", "inf", "x", "1x", "", "1e999"):
            flags = dict(zip(AT[::2], AT[1::2]))
            flags[flag] = value
            f.refused("nll", "data.csv", *[f"{k}={v}" for k, v in flags.items()], says=flag)
            f.refused("bandwidth", "--gap", 1, "--n", 9, *[f"{k}={v}" for k, v in flags.items()], says=flag)
    f.refused("nll", "data.csv", *AT[:4], "--noise", 0, says="noise")
    for value in (0, -1, "nan", "inf", "much"):
        f.refused("nll", "data.csv", *AT, f"--tolerance={value}", says="--tolerance")
        f.refused("fit", "data.csv", f"--tolerance={value}", says="--tolerance")
        f.refused("bandwidth", "data.csv", *AT, f"--tolerance={value}", says="--tolerance")
        f.refused("nll", "data.csv", *AT, f"--reach={value}", says="--reach")
        f.refused("nll", "data.csv", *AT, f"--thin={value}", says="--thin")
    for value, says in ((-1, "negative"), (2.5, "whole number"), ("wide", "auto, corollary"), ("3x", "not a number"),
                        ("nan", "auto, corollary"), ("1e99", "whole number")):
        f.refused("nll", "data.csv", *AT, "--bandwidth", value, says=["--bandwidth", says])
        f.refused("fit", "data.csv", "--bandwidth", value, says=["--bandwidth", says])
    f.refused("nll", "data.csv", *AT, "--seed", -1, says="--seed")
    f.refused("nll", "data.csv", *AT, "--threads", "two", says="--threads")


def test_choices_that_are_refused(f):
    f.series()
    f.refused("nll", "data.csv", *AT, "--method", "dual", "--bandwidth", "5", says="--method dual")
    f.refused("fit", "data.csv", "--method", "exakt", says=["--method", "exact"])
    f.refused("fit", "data.csv", "--inducing", 5, says=["--inducing", "fitc or vfe"])
    f.refused("fit", "data.csv", "--method", "vfe", "--inducing", 0, says="inducing")
    f.refused("fit", "data.csv", "--method", "exact", "--bandwidth", 5, says="--bandwidth")
    f.refused("fit", "data.csv", "--method", "magic", says="auto, band, dual")
    f.refused("fit", "data.csv", "--mean", "cubic", says="zero, constant or linear")
    f.refused("fit", "data.csv", "--kernel", "sse", says=["unknown shape", "known: se"])
    f.refused("fit", "data.csv", "--kernel", "", says="kernel")
    f.refused("nll", "data.csv", *AT, "--reach", 3, "--bandwidth", 4, says="only one")
    f.refused("fit", "data.csv", "--kernel", "se + se", "--bandwidth", "corollary", says="se alone")
    f.refused("fit", "data.csv", "--kernel", "matern32", "--bandwidth", "theorem", says="se alone")


def test_parameters_that_are_missing_or_too_many(f):
    f.series()
    all_three = "variance, lengthscale and noise have no value: give them in --kernel or by --variance and --lengthscale"
    f.refused("nll", "data.csv", says=all_three)
    f.refused("bandwidth", "data.csv", says=all_three)
    f.refused("nll", "data.csv", "--variance", 1, says="lengthscale and noise have no value: give them in --kernel or by --lengthscale, the noise by --noise")
    f.refused("nll", "data.csv", "--kernel", "se + 2*se", "--noise", 1, says="variance_1, lengthscale_1 and lengthscale_2 have no value: give them in --kernel\n")
    f.refused("nll", "data.csv", "--variance", 1, "--noise", 1, says="lengthscale has no value: give it in --kernel or by --lengthscale\n")
    f.refused("nll", "data.csv", "--variance", 1, "--lengthscale", 1, says="noise has no value: give it by --noise")
    f.refused("nll", "data.csv", "--kernel", "2*se(lengthscale=1) + se", "--noise", 1, says="variance_2 and lengthscale_2 have no value: give them in --kernel\n")
    f.refused("nll", "data.csv", "--kernel", "2*se(lengthscale=1)", *AT, says="given twice")
    f.refused("nll", "data.csv", "--kernel", "se + se", *AT, says="one term")
    f.refused("fit", "data.csv", "--init", "scale=3", says=["--init", "scale", "variance, lengthscale, noise"])
    f.refused("fit", "data.csv", "--fix", "lengthscale_1=3", says=["--fix", "lengthscale_1"])
    f.refused("fit", "data.csv", "--fix", "lengthscale", says="name=value")
    f.refused("fit", "data.csv", "--init", "noise=0", says="must be finite and positive")
    f.refused("fit", "data.csv", "--fix", "noise=0", says="--yerr")
    f.refused("fit", "data.csv", "--fix", "lengthscale=-2", says="must be finite and positive")
    f.refused("fit", "data.csv", "--fix", "noise=1,noise=2", says="twice")
    f.refused("fit", "data.csv", "--fix", "noise=1", "--init", "noise=2", says="only one")


# --- bandwidth ---------------------------------------------------------------------------------------------------------

def test_table_1_of_the_paper(f):
    cases = [((0.2, 5, 1, 0.1), (19, 20, 16)), ((0.1, 1, 0.75, 0.01), (31, 32, 26)), ((0.2, 0.8, 2, 0.05), (38, 40, 30))]
    for (gap, variance, lengthscale, noise), rules in cases:
        for n in (2000, 1000000000, "1e9"):
            result = f.json("bandwidth", "--gap", gap, "--n", n, "--variance", variance, "--lengthscale", lengthscale,
                            "--noise", noise)
            require(list(result) == ["n", "min_gap", "corollary", "theorem", "lemma", "tolerance"], result)
            require((result["corollary"], result["theorem"], result["lemma"]) == rules, result)
            require(result["min_gap"] == gap and result["tolerance"]["nats"] == 0.01, result)
            require(result["tolerance"]["bandwidth"] > result["lemma"], result)


def test_a_grid_without_data_is_the_grid_with_data(f):
    for n in (2, 3, 9, 20, 41, 300):
        f.write("grid.csv", "".join(f"{0.25 * i},{(-1) ** i}\n" for i in range(n)))
        flags = ["--variance", 2, "--lengthscale", 1, "--noise", 0.3]
        grid, data = f.json("bandwidth", "--gap", 0.25, "--n", n, *flags), f.json("bandwidth", "grid.csv", *flags)
        for rule in ("n", "min_gap", "corollary", "theorem", "lemma"):
            require(grid[rule] == data[rule], (n, rule, grid, data))
        k = grid["lemma"]  # brute force
        values = [2 * math.exp(-0.5 * (0.25 * h) ** 2) for h in range(n)]

        def largest(width):
            return max(sum(values[abs(i - j)] for j in range(n) if abs(i - j) > width) for i in range(n))
        require(largest(k) < 0.3 and (k == 0 or largest(k - 1) >= 0.3), (n, k))


def test_rules_that_do_not_apply_are_null(f):
    result = f.json("bandwidth", "--gap", 1, "--n", 500, "--kernel", "2*matern32(lengthscale=3)", "--noise", 0.1)
    require(result["corollary"] is None and result["theorem"] is None and result["lemma"] > 0, result)
    require("se alone" in f.run("bandwidth", "--gap", 1, "--n", 500, "--kernel", "2*matern32(lengthscale=3)", "--noise",
                                0.1).stdout, "text")
    wendland = f.json("bandwidth", "--gap", 1, "--n", 500, "--kernel", "2*wendland2(lengthscale=3)", "--noise", 0.1)
    require(wendland["tolerance"]["bandwidth"] <= 3, wendland)


def test_bandwidth_needs_a_file_or_a_grid(f):
    f.series()
    f.refused("bandwidth", *AT, says="--gap")
    f.refused("bandwidth", "--gap", 1, *AT, says="--n")
    f.refused("bandwidth", "data.csv", "--gap", 1, "--n", 9, *AT, says="FILE and --gap")
    for gap in (0, -1, "nan", "x"):
        f.refused("bandwidth", f"--gap={gap}", "--n", 9, *AT, says="--gap")
    for n in (0, -1, 2.5, "nan", "many"):
        f.refused("bandwidth", "--gap", 1, f"--n={n}", *AT, says="--n")


# --- fit ---------------------------------------------------------------------------------------------------------------

FIT = NLL + ["kernel", "variance", "lengthscale", "noise", "mean", "standard_errors", "status", "message", "evaluations",
             "seconds", "series"]


def test_fit_fields_and_their_order(f):
    result = f.json("fit", f.series(n=200))
    require(list(result)[:len(FIT)] == FIT, list(result))
    require(result["status"] == "converged" and result["n"] == 200, result)
    require(list(result["standard_errors"]) == ["variance", "lengthscale", "noise"], result)
    require(all(v > 0 for v in result["standard_errors"].values()), result)
    require(max(abs(g) for g in result["gradient"].values()) < 1e-2, result)
    require(0.05 < result["noise"] < 0.15 and len(result["mean"]) == 1, result)
    for key in ("rows", "used", "dropped", "merged", "thinned", "sorted", "min_gap", "mean_gap", "span"):
        require(key in result["series"], result["series"])
    again = f.json("nll", "data.csv", "--kernel", result["kernel"], "--noise", repr(result["noise"]), "--tolerance", 1e-5)
    close(again["nll"], result["nll"], 1e-9)


def test_fit_of_a_sum_names_its_parameters(f):
    result = f.json("fit", f.series(n=150), "--kernel", "se + matern12")
    names = ["variance_1", "lengthscale_1", "variance_2", "lengthscale_2", "noise"]
    keys = list(result)
    require(keys[keys.index("kernel") + 1:keys.index("mean")] == names, keys)
    require(list(result["gradient"]) == ["log_" + n for n in names], result)
    require(list(result["parameters"].items()) == [(n, result[n]) for n in names], result["parameters"])


def test_nll_tells_its_parameters_by_name(f):
    kernel = "2*rbf(lengthscale=3) + Matern-1/2(Lengthscale=0.5, variance=0.25)"
    result = f.json("nll", f.series(n=30), "--kernel", kernel, "--noise", 0.1)
    require(result["kernel"] == "2*se(lengthscale=3) + 0.25*matern12(lengthscale=0.5)", result["kernel"])
    require(list(result["parameters"].items()) == [("variance_1", 2), ("lengthscale_1", 3), ("variance_2", 0.25),
                                                   ("lengthscale_2", 0.5), ("noise", 0.1)], result["parameters"])
    require(f.json("nll", "data.csv", "--variance", 1, "--lengthscale", 2, "--noise", 0.1, "--bandwidth", 0, code=None)
            ["parameters"] == {"variance": 1, "lengthscale": 2, "noise": 0.1}, "with or without an NLL")


def test_fit_summary_for_people(f):
    text = f.run("fit", f.series(n=200)).stdout
    for part in ("200 rows, 200 used", "span 199", "lengthscale", "±", "mean", "NLL", "the exact GP's NLL is within",
                 "neighbours a side", "evaluations", "converged"):
        require(part in text, text)


def test_fit_of_the_bundled_series(f):
    result = f.json("fit", SUNSPOTS)
    require(result["n"] == 2820 and result["status"] == "converged", result)
    require(1.3 < result["lengthscale"] < 1.8 and 190 < result["noise"] < 240, result)
    require(result["certificate"]["nll_error"] <= 0.01, result)
    at = ["--variance", repr(result["variance"]), "--noise", repr(result["noise"])]
    here = f.json("nll", SUNSPOTS, *at, "--lengthscale", repr(result["lengthscale"]))["nll"]
    for factor in (0.98, 1.02):  # a minimum
        require(f.json("nll", SUNSPOTS, *at, "--lengthscale", repr(factor * result["lengthscale"]))["nll"] > here, factor)
    require(f.json("bandwidth", SUNSPOTS, *at, "--lengthscale", 1.5)["n"] == 2820, "bandwidth")


def test_fixed_and_starting_values(f):
    f.series(n=150)
    result = f.json("fit", "data.csv", "--fix", "noise=0.09, lengthscale=2", "--init", "variance=3")
    close(result["noise"], 0.09, 1e-15)
    close(result["lengthscale"], 2, 1e-15)
    require(result["standard_errors"]["noise"] is None and result["standard_errors"]["variance"] > 0, result)
    require("(fixed)" in f.run("fit", "data.csv", "--fix", "noise=0.09").stdout, "text")


def test_fit_with_too_narrow_a_band_says_so(f):
    f.series(n=300, gap=0.05)
    done = subprocess.run([f.binary, "fit", "data.csv", "--bandwidth", "1", "--fix", "lengthscale=2,noise=0.001,variance=1",
                           "--json", "-o", "m.json"], cwd=f.path, capture_output=True, text=True, timeout=120)
    result = json.loads(done.stdout)
    require(done.returncode == 1 and result["status"] == "not_positive_definite", done)
    require(result["bandwidth"] == 1 and result["nll"] is None and result["gradient"] is None, result)
    require(result["certificate"]["positive_definite"] is False and "bandgp: " in done.stderr, result)
    require((f.path / "m.json").exists(), "the result is still written")


def test_model_file(f):
    f.series(n=80)
    text = f.run("fit", "data.csv", "-o", "m.json").stdout
    require("NLL" in text and f.files() == ["data.csv", "m.json"], f.files())
    model = json.loads((f.path / "m.json").read_text())
    require(model["format"] == "bandgp-model" and model["format_version"] == 2, model)
    require(list(model)[-1] == "checksum", list(model))
    require(json.loads(f.run("fit", "data.csv", "-o", "-").stdout)["kernel"] == model["kernel"], "on standard output")
    require(f.run("fit", "data.csv", "-o", "q.json", "--quiet").stdout == "", "quiet")
    require(f.json("fit", "data.csv", "-o", "j.json")["kernel"] == model["kernel"], "json beside a model")


def test_a_model_that_cannot_be_written_leaves_nothing(f):
    f.series()
    f.refused("fit", "data.csv", "-o", "no/such/folder/m.json", says=["no/such/folder/m.json", "No such file"])
    (f.path / "folder").mkdir()
    f.refused("fit", "data.csv", "-o", "folder", says="Is a directory")
    require(f.files() == ["data.csv", "folder"], f.files())
    if os.geteuid() != 0:
        (f.path / "folder").chmod(0o555)
        f.refused("fit", "data.csv", "-o", "folder/m.json", says="Permission denied")
    f.write("m.json", "old")
    f.refused("fit", "missing.csv", "-o", "m.json", says="missing.csv")
    require((f.path / "m.json").read_text() == "old", "an earlier model was touched")


def test_a_model_replaces_the_file_behind_a_link_and_no_device(f):
    f.series()
    f.write("real.json", "old")
    (f.path / "link.json").symlink_to("real.json")
    f.run("fit", "data.csv", "-o", "link.json")
    require((f.path / "link.json").is_symlink(), "the link was replaced")
    require((f.path / "real.json").read_text().startswith("{"), "the file behind it was not")
    f.run("fit", "data.csv", "-o", "/dev/null")
    require(not Path("/dev/null").is_file(), "/dev/null was replaced")
    require(f.files() == ["data.csv", "link.json", "real.json"], f.files())


def test_standard_output_that_cannot_be_written(f):
    with open("/dev/full", "w") as full:
        done = subprocess.run([f.binary, "nll", f.series(), *AT], cwd=f.path, stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=60)
    require(done.returncode == 2 and "cannot write to standard output" in done.stderr, done)
    for flags in (["--help"], ["--version"], ["fit", "--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([f.binary, *flags], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        require(done.returncode == 2 and "cannot write to standard output" in done.stderr, done)


def test_names_do_not_tell_the_terminal_what_to_do(f):
    f.write("names.csv", "a\033[2J,b,c,d\n1,2,3,4\n")
    require("\033" not in f.refused("nll", "names.csv", *AT, says="a?[2J"), "an escape sequence came through")
    f.write("named\033.csv", "t\033[1m,y\n" + "".join(f"{i},{i % 3}\n" for i in range(9)))
    require("\033" not in f.run("nll", "named\033.csv", *AT).stdout, "an escape sequence came through")


def test_interrupt(f):
    f.series(n=5000)
    child = subprocess.Popen([f.binary, "fit", "data.csv", "--kernel", "se + matern32 + se + matern12", "--json", "-o",
                              "m.json"], cwd=f.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(2)
        require(child.poll() is None, "the fit was over before it could be interrupted")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=280)
    finally:
        child.kill()
    require(child.returncode == 1, (child.returncode, out, err))
    result = json.loads(out)
    require(result["status"] == "cancelled" and result["variance_1"] > 0, result)
    if result["certificate"] is None:  # stopped while searching: nothing is told that was not computed
        require(result["condition"] is None and result["rounding"] is None, result)
    else:
        require(result["certificate"]["positive_definite"] is True, result)
    require((f.path / "m.json").exists(), "the best so far is written")


def test_too_large_for_this_machine(f):
    f.series(n=250000)
    result = f.json("nll", "data.csv", *AT, "--bandwidth", 249999, code=1)
    require("GB" in result["message"] and "--thin" in result["message"] and result["nll"] is None, result)
    require(result["certificate"] is None, result)  # nothing was factored
    done = f.run("nll", "data.csv", *AT, "--bandwidth", 249999, code=1)
    require("GB" in done.stdout and "--thin" in done.stdout, done.stdout)


# --- published numbers -------------------------------------------------------------------------------------------------

def reference(name):
    folder = os.environ.get("BANDGP_DATA")
    path = Path(folder) / "gp_reference" / name if folder else None
    if not path or not path.exists():
        raise Skip(f"no data at {path or 'BANDGP_DATA'}")
    return path.read_text().split()


def test_george_log_likelihood(f):
    header, *rows = reference("george_scaling_first2000_xy.csv")
    for n, truth in ((100, 133.946394918124), (1000, 1374.5708082219), (2000, 2755.9515991285)):
        f.write("g.csv", "\n".join([header + ",e", *[row + ",0.1" for row in rows[:n]]]) + "\n")
        result = f.json("nll", "g.csv", "--kernel", "0.443195437637469*se(lengthscale=1)", "--noise", 0, "--yerr", "e",
                        "--mean", "zero")
        require(abs(-result["nll"] - truth) <= result["certificate"]["nll_error"] + 1e-9 * truth, (n, result))


def test_george_first_example(f):
    header, *rows = reference("george_first_xy.csv")
    f.write("g.csv", "\n".join([header, *rows]) + "\n")
    values = [float(row.split(",")[1]) for row in rows]
    mean = sum(values) / len(values)
    variance = sum((y - mean) ** 2 for y in values) / len(values)
    result = f.json("nll", "g.csv", "--kernel", f"{variance!r}*se(lengthscale={math.sqrt(0.5)!r})", "--noise", 0, "--yerr",
                    "yerr", "--mean", "zero", "--bandwidth", 14)
    close(-result["nll"], -11.816510286983, 1e-9)


def test_gpml_optima(f):
    for name, nll, lengthscale, noise in (
            ("gpml_simple_xy.csv", -2.782129589953, math.exp(-0.63521501), math.exp(2 * -2.38237100)),
            ("gpml_demoRegression_xy.csv", 14.131090784910, 0.3703166, 0.1491881 ** 2)):
        f.write("g.csv", "\n".join(reference(name)) + "\n")
        result = f.json("fit", "g.csv", "--mean", "zero")
        close(result["nll"], nll, 1e-7)
        close(result["lengthscale"], lengthscale, 1e-4)
        close(result["noise"], noise, 1e-3)


def test_every_method_fits_saves_and_predicts(f):
    f.series(n=120)
    exact = f.json("fit", "data.csv", "--method", "exact", "-o", "exact.json")
    require(exact["method"] == "exact" and exact["certificate"]["rho"] == 0, exact["certificate"])
    for method, flags in [("fitc", ["--inducing", 60]), ("vfe", ["--inducing", 60]), ("vfe", ["--inducing", 25, "--move-inducing"]),
                          ("taper", ["--taper-range", 900]), ("taper", ["--taper", "c4", "--neighbours", 60]),
                          ("vecchia", ["--neighbours", 40])]:
        result = f.json("fit", "data.csv", "--method", method, *flags, "-o", "m.json")
        require(result["method"] == method and result["certificate"] is None, result)
        require(abs(result["nll"] - exact["nll"]) < 5, (method, result["nll"], exact["nll"]))
        text = f.run("fit", "data.csv", "--method", method, *flags).stdout
        require("nothing to certify" in text and method in text, text)
        rows = f.run("predict", "m.json", "--grid", "0,100,7").stdout
        require(len(rows.splitlines()) == 16, rows)
        at = ["--variance", 1, "--lengthscale", 3, "--noise", 0.1]
        require(f.json("nll", "data.csv", "--method", method, *[x for x in flags if x != "--move-inducing"], *at)["certificate"] is None, method)
    # A bound: never below the exact one at the same parameters.
    at = ["--variance", 1, "--lengthscale", 3, "--noise", 0.1]
    require(f.json("nll", "data.csv", "--method", "vfe", "--inducing", 20, *at)["nll"]
            >= f.json("nll", "data.csv", "--method", "exact", *at)["nll"] - 1e-9, "vfe is below exact")


def test_outputs_do_not_replace_inputs(f):
    f.series()
    before = (f.path / "data.csv").read_text()
    f.refused("fit", "data.csv", "-o", "data.csv", says="data.csv would be replaced")
    f.refused("fit", "data.csv", "--report", "./data.csv", says="would be replaced")
    f.refused("fit", "data.csv", "-o", "x.json", "--report", "x.json", says="would be replaced")
    f.run("fit", "data.csv", "-o", "m.json", "--quiet")
    f.refused("predict", "m.json", "--grid", "0,1,1", "-o", "m.json", says="would be replaced")
    f.refused("predict", "m.json", "--at", "data.csv", "-o", "data.csv", says="would be replaced")
    f.refused("predict", "m.json", "--grid", "0,1e12,0.001", says="rows")
    require((f.path / "data.csv").read_text() == before and f.files() == ["data.csv", "m.json"], f.files())


def test_a_model_of_the_dense_covariance_predicts(f):
    f.series(n=1100)
    f.run("fit", "data.csv", "--method", "exact", "--fix", "variance=1,lengthscale=3,noise=0.1", "-o", "m.json", "--quiet")
    f.run("predict", "m.json", "--grid", "0,9,1")


def test_dates_stay_dates(f):
    f.write("dates.csv", "when,y\n" + "".join(f"{1 + i // 24:02d}-03-2010 {i % 24:02d}:00,{math.sin(i / 4) + 0.1 * math.sin(37 * i * i)}\n" for i in range(700)))
    f.run("fit", "dates.csv", "--time-format", "%d-%m-%Y %H:%M", "-o", "m.json", "--quiet")
    grid = f.json("predict", "m.json", "--grid", "2010-03-02,2010-03-03,12h")
    require(grid["time"] == ["02-03-2010 00:00", "02-03-2010 12:00", "03-03-2010 00:00"], grid["time"])
    f.write("at.csv", "when\n02-03-2010 00:00\n02-03-2010 12:00\n")  # a header over one column with a blank in it
    at = f.json("predict", "m.json", "--at", "at.csv")
    require(at["mean"] == grid["mean"][:2], at)


def test_one_time_only_has_nothing_to_be_left_out(f):
    f.write("same.csv", "t,v\n1,2\n1,3\n1,4\n")
    text = f.run("fit", "same.csv", code=None).stdout
    require("nan" not in text, text)


def test_exact_refuses_what_memory_cannot_hold(f):
    f.run("simulate", "--n", 400000, "--gap", 1, "--variance", 1, "--lengthscale", 3, "--noise", 0.1, "--seed", 1, "-o", "long.csv")
    done = f.run("nll", "long.csv", "--method", "exact", "--variance", 1, "--lengthscale", 3, "--noise", 0.1, code=1)
    require("1280" in done.stdout and "--method auto" in done.stdout, done.stdout)


if __name__ == "__main__":
    sys.exit(main(globals()))
