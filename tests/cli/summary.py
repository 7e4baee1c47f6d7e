#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a person sees: summaries, remarks, colour, progress, Ctrl-C. summary.py BINARY [NAME]"""

import json
import math
import random
import re
import signal
import subprocess
import sys
import time

from support import SUNSPOTS, close, main, require


def gaussian(f, name, n, offset=0.0, start=0.0):
    draw = random.Random(1)
    return f.write(name, "t,y\n" + "".join(f"{start + i!r},{offset + draw.gauss(0, 1)!r}\n" for i in range(n)))


def plain(text):
    return re.sub(r"\033\[[0-9;]*[mK]", "", text)


def test_everything_is_in_the_summary(f):
    text = f.run("fit", SUNSPOTS, "-o", "m.json").stdout
    for part in ("2820 rows, 2820 used", "span 234.917", "regular, no gaps", "lengthscale", "±", "NLL", "NMSE 0.12", "NLPD 4.1",
                 "within their 95 % intervals", "the exact GP's NLL is within", "dual: ", "cheaper than a band of the covariance",
                 "evaluations in", "MB of memory", "converged", "written to m.json"):
        require(part in text, (part, text))
    require("\033" not in text, "colour without a terminal")
    require(max(map(len, text.splitlines())) <= 120, text)


def test_every_term_is_told_in_a_sentence(f):
    draw = random.Random(4)
    f.write("load.csv", "time,load\n" + "".join(
        f"2024-01-{1 + h // 24:02d} {h % 24:02d}:00,{100 + 8 * math.sin(math.pi * h / 12) + h / 100 + draw.gauss(0, 1):.3f}\n" for h in range(480)))
    flags = ["load.csv", "--time-unit", "h", "--kernel", "periodic(period=24) + se(lengthscale=200)"]
    text = f.run("fit", *flags, "-o", "m.json").stdout
    require(re.search(r"1\. season: repeats every (24\.0|23\.9)\d* ± 0\.0\d+ hours, always in the same shape", text), text)
    require(re.search(r"2\. (trend|short-term): a smooth curve that forgets itself over [\d.]+", text) and "% of the variance" in text, text)
    require(max(map(len, text.splitlines())) <= 120, text)
    told = f.json("fit", *flags)["components"]
    require([c["kind"] for c in told][0] == "season" and [c["term"] for c in told] == ["periodic", "se"], told)
    require(0.8 < told[0]["share"] < 1 and 0 < told[1]["share"] < 0.2 and "hours" in told[0]["sentence"], told)
    # And the report has them, with the forecast that is asked for.
    f.run("report", "m.json", "--horizon", "2d", "-o", "out.html")
    page = (f.path / "out.html").read_text()
    require('"kind":"season"' in page and '"forecast_from":479' in page, page[:200])
    f.refused("report", "m.json", "--horizon", "later", "-o", "out.html", says="--horizon")


def test_leave_one_out_is_what_leaving_out_gives(f):
    # Refit nothing: with the parameters fixed, every point is predicted from a model of the others.
    f.series(n=25)
    fixed = ["--fix", "variance=1,lengthscale=3,noise=0.1"]
    result = f.json("fit", "data.csv", *fixed)["leave_one_out"]
    lines = (f.path / "data.csv").read_text().splitlines()
    squares = nlpd = inside = 0
    values = [float(line.split(",")[1]) for line in lines[1:]]
    for i, y in enumerate(values):
        f.write("rest.csv", "\n".join(lines[:i + 1] + lines[i + 2:]) + "\n")
        f.run("fit", "rest.csv", *fixed, "-o", "m.json")
        t = lines[i + 1].split(",")[0]
        _, mean, _, deviation = map(float, f.run("predict", "m.json", "--grid", f"{t},{t},1").stdout.splitlines()[1].split(","))
        squares += (y - mean) ** 2
        nlpd += 0.5 * math.log(2 * math.pi * deviation ** 2) + 0.5 * ((y - mean) / deviation) ** 2
        inside += abs(y - mean) <= 1.959963984540054 * deviation
    average = sum(values) / len(values)
    close(result["nmse"], squares / sum((y - average) ** 2 for y in values), 1e-3)
    require(abs(result["nlpd"] - nlpd / len(values)) < 1e-3, (result, nlpd / len(values)))
    require(result["coverage_95"] == inside / len(values), (result, inside))


def test_leave_one_out_is_left_out_where_nothing_certifies_it(f):
    f.series()
    flags = ["--bandwidth", 0, "--fix", "variance=1,lengthscale=3,noise=0.1"]
    require(f.json("fit", "data.csv", *flags, code=1)["leave_one_out"] is None, "json")
    require("leave-one-out was not computed" in f.run("fit", "data.csv", *flags, code=1).stdout, "text")


def test_gaps_are_counted(f):
    missing = {10, 50, 51, 52, 90}
    f.write("gaps.csv", "".join(f"{i},{math.sin(i) + 0.1 * math.sin(37 * i * i)}\n" for i in range(120) if i not in missing))
    require("regular, 3 gaps longer than 1.5, the longest 4 after 49" in f.run("fit", "gaps.csv").stdout, "text")
    series = f.json("fit", "gaps.csv")["series"]
    require(series["gaps"] == 3 and series["gap_limit"] == 1.5 and series["max_gap"] == 4, series)
    f.write("loose.csv", "".join(f"{i ** 1.5},{math.sin(i) + 0.1 * math.sin(37 * i * i)}\n" for i in range(60)))
    require("irregular, no gaps" in f.run("fit", "loose.csv").stdout, "irregular")


def test_why_this_representation(f):
    f.series(n=300)
    why = lambda *flags, code=0: f.run("fit", "data.csv", "--fix", "variance=1,lengthscale=1.5,noise=0.1", *flags, code=code).stdout
    require("cheaper than the dual, for the length-scale spans only 1.5 points" in why(), why())
    require("as asked for by --method dual" in why("--method", "dual"), "dual")
    require("as asked for by --method band" in why("--method", "band"), "band")
    require("the width was given" in why("--bandwidth", "lemma"), "lemma")
    require("the dual is for se terms" in f.run("fit", "data.csv", "--kernel", "wendland2").stdout, "wendland2")
    markov = f.run("fit", "data.csv", "--kernel", "matern32").stdout
    require("markov: the states of the terms" in markov and "linear in the points" in markov, markov)
    require(f.json("fit", "data.csv", "--kernel", "matern32")["bandwidth"] is None, "no band, no bandwidth")


def test_pure_noise_is_named(f):
    gaussian(f, "noise.csv", 300)
    text = f.run("fit", "noise.csv").stdout
    require("not distinguishable from 0" in text and "converged" in text, text)
    result = f.json("fit", "noise.csv")
    require(len(result["remarks"]) == 1 and "noise alone" in result["remarks"][0], result)
    f.series(n=200)
    require(f.json("fit", "data.csv")["remarks"] == [], "a good fit")


def first_sunspots(f, rows=700):
    f.write("sunspots.csv", "".join(SUNSPOTS.open().readlines()[:rows + 1]))
    return "sunspots.csv"


def test_a_term_without_support_is_named(f):
    f.run("simulate", "--n", 800, "--gap", 1, "--variance", 1, "--lengthscale", 10, "--noise", 0.1, "--seed", 1, "-o", "one.csv")
    text = f.run("fit", "one.csv", "--kernel", "se + se").stdout
    require("term 1 is not supported by the data" in text or "term 2 is not supported by the data" in text, text)
    require(f.json("fit", first_sunspots(f), "--kernel", "se + se")["remarks"] == [], "two real terms")


def test_few_points_are_named(f):
    f.write("two.csv", "0,1\n1,3\n")
    require("only 2 observations for 4 parameters" in f.run("fit", "two.csv").stdout, "two points")
    f.series(n=50)
    f.refused("fit", "data.csv", "--thin", 1000, says="one observation, which is what --thin leaves, is not enough to fit")


def test_values_far_from_zero_keep_their_digits(f):
    gaussian(f, "far.csv", 300, offset=1e9)
    result = f.json("fit", "far.csv")
    shown = re.search(r"mean +(\S+)", f.run("fit", "far.csv").stdout.split("constant mean")[1]).group(1)
    require(abs(float(shown) - result["mean"][0]) < 1e-3, (shown, result["mean"]))


def test_a_trend_is_told_where_the_data_are(f):
    draw = random.Random(2)
    f.write("late.csv", "".join(f"{1749 + i / 10},{3 + (i - 150) / 10 + math.sin(i) + draw.gauss(0, 0.1):.6f}\n" for i in range(301)))
    result, text = f.json("fit", "late.csv", "--mean", "linear"), f.run("fit", "late.csv", "--mean", "linear").stdout
    value, at = re.search(r"mean +(\S+) at (\S+), the middle", text).groups()
    require(float(at) == 1764 and abs(float(value) - 3) < 0.2, text)
    require(abs(result["mean"][0] + 1764 * result["mean"][1] - float(value)) < 1e-3, "JSON keeps the value at time 0")


def test_one_of_a_kind_is_singular(f):
    f.write("bad.csv", "t,y\n" + "".join(f"{i},{math.sin(i) + 0.3 * (i * 7919 % 13 - 6) / 6}\n" for i in range(30)) + "x,1\n")
    require("1 malformed line skipped" in f.run("fit", "bad.csv", "--skip-bad").stdout, "1 line")
    f.write("ties.csv", "".join(f"{t},{math.sin(i)}\n" for i, t in enumerate([0, 1, 1, 2, 2, 2, 3])))
    at = ["--variance", 1, "--lengthscale", 1, "--noise", 1]
    require("; 3 repeat an earlier time: 4 distinct times" in f.run("nll", "ties.csv", *at).stdout, "ties")
    f.write("tie.csv", "0,1\n1,2\n1,3\n")
    require("; 1 repeats an earlier time: 2 distinct times" in f.run("nll", "tie.csv", *at).stdout, "a tie")
    f.write("one.csv", "5,2\n")
    require("1 row, 1 used" in f.run("nll", "one.csv", "--variance", 1, "--lengthscale", 1, "--noise", 1).stdout, "1 row")


def test_statuses_are_words(f):
    f.write("line.csv", "".join(f"{i},{i * i}\n" for i in range(60)))
    done = subprocess.run([f.binary, "fit", "line.csv"], cwd=f.path, capture_output=True, text=True)
    status = done.stdout.split("Status")[1]
    require("_" not in status.split("\n")[0], status)
    if "edge" in status:
        require(re.search(r"converged with \w+.* at the edge of what is tried", status), status)


def test_a_forced_band_is_told_of_auto_before_thin(f):
    f.series(n=250000)
    at = ["--variance", 1, "--lengthscale", 3, "--noise", 0.1, "--bandwidth", 249999]
    message = f.json("nll", "data.csv", *at, code=1)["message"]
    require("GB" in message and 0 < message.find("--method auto") < message.find("--thin"), message)


def test_bandwidth_is_about_the_band(f):
    f.series()
    at = ["--variance", 1, "--lengthscale", 3, "--noise", 0.1]
    f.refused("bandwidth", "data.csv", *at, "--method", "dual", says=["covariance band", "--method dual"])
    require(f.json("bandwidth", "data.csv", *at, "--method", "band") == f.json("bandwidth", "data.csv", *at), "band")


# --- on a terminal -----------------------------------------------------------------------------------------------------

def test_colour_is_for_terminals_that_want_it(f):
    f.series(n=200)
    code, shown = f.terminal("fit", "data.csv")
    require(code == 0 and "\033[1mRead" in shown and "\033[32mconverged\033[0m" in shown, shown)
    _, shown = f.terminal("fit", "data.csv", environment={"NO_COLOR": "1"})
    require("\033[32m" not in shown and "\r\033[K" in shown and "converged" in shown, shown)
    _, shown = f.terminal("fit", "data.csv", environment={"TERM": "dumb"})
    require("\033" not in shown and "converged" in shown, shown)
    gaussian(f, "noise.csv", 300)
    require("\033[33mconverged" in f.terminal("fit", "noise.csv")[1], "doubtful")


def test_progress_shows_what_is_going_on(f):
    f.run("simulate", "--n", 100000, "--gap", 1, "--variance", 1, "--lengthscale", 10, "--noise", 0.1, "-o", "s.csv")
    code, shown = f.terminal("fit", "s.csv")
    require(code == 0 and "converged" in shown, shown)
    lines = [plain(line) for line in shown.split("\r") if plain(line).startswith("NLL ")]
    require(len(lines) > 10 and max(map(len, lines)) <= 79, lines)
    on_all = re.compile(r"NLL \S+, (~\d+ (s|min|h)|<1 s) left, k \d+, var \S+, len \S+, noise \S+")
    require(any(on_all.match(line) for line in lines), lines)
    require(not re.search(r"\d (µs|ms) left", shown), "false precision")
    require(shown.rindex("\033[KNLL ") < shown.index("Read"), "progress ends before the result")
    require("\033[KNLL " not in f.terminal("fit", "s.csv", "--quiet")[1], "quiet")


def test_progress_names_what_is_trained(f):
    _, shown = f.terminal("fit", first_sunspots(f), "--kernel", "se + se")
    lines = [plain(line) for line in shown.split("\r") if "NLL " in line and "noise" in line and "Read" not in line]
    require(re.search(r"var(iance)? \S+, len(gthscale)? \S+, noise ", lines[0]), lines[0])  # one term comes first
    require(any("var_2 " in line for line in shown.split("\r")), lines[-1])


def interrupted(f, times):
    f.run("simulate", "--n", 20000, "--gap", 1, "--irregular", "--kernel", "1*matern12(lengthscale=20)", "--noise", 0.1, "-o", "s.csv")
    sent = []

    def press(child, shown):
        if len(sent) < times and "\033[KNLL " in shown and (not sent or "bandgp: stopping" in shown):
            child.send_signal(signal.SIGINT)
            sent.append(1)
    return f.terminal("fit", "s.csv", "--kernel", "matern12 + matern32 + matern12", "-o", "m.json", while_running=press)


def test_one_interrupt_stops_with_what_there_is(f):
    code, shown = interrupted(f, 1)
    require(code == 1 and "; a second Ctrl-C ends at once without a result" in shown, (code, shown))
    require("interrupted after" in shown or "cancelled during the search" in shown, shown)
    model = json.loads((f.path / "m.json").read_text())
    require(model["status"] == "cancelled" and "matern32" in model["kernel"], model["status"])
    require("Best so far" in shown and "Fitted" not in shown, shown)
    done = f.run("predict", "m.json", "--grid", "0,1,1", code=1)
    require(done.stderr.startswith("bandgp: the model's training was interrupted after ") and done.stderr.count("\n") == 1, done.stderr)
    require(done.stdout.count("\n") == 3, done.stdout)


def test_two_interrupts_end_it_at_once(f):
    code, shown = interrupted(f, 2)
    require(code == -signal.SIGINT and f.files() == ["s.csv"], (code, shown, f.files()))


def test_an_interrupt_says_at_once_how_long_the_evaluation_may_take(f):
    # One evaluation of the dense matrix of 6000 points takes seconds; the second interrupt does not wait for it.
    f.series(n=6000, gap=0.5)
    sent = []

    def press(child, shown):
        if not sent and "an evaluation, the fit perhaps" in shown or len(sent) == 1 and "bandgp: stopping" in shown:
            sent.append(len(shown))
            child.send_signal(signal.SIGINT)
    code, shown = f.terminal("fit", "data.csv", "--method", "exact", "--init", "variance=1,lengthscale=3,noise=0.1", "-o", "m.json",
                             while_running=press)
    told = r"bandgp: stopping; the evaluation now running may take about \d+ (s|min) more; a second Ctrl-C ends at once without a result"
    require(len(sent) == 2 and re.search(told, shown), shown)
    require(code == -signal.SIGINT and "m.json" not in f.files(), (code, f.files()))


def test_an_interrupt_is_answered_without_a_terminal_unless_quiet(f):
    # A fit of some ten seconds on a fast machine: it is under way after one.
    f.run("simulate", "--n", 300000, "--gap", 1, "--irregular", "--kernel", "1*matern12(lengthscale=20)", "--noise", 0.1, "-o", "s.csv")
    for quiet in ([], ["--quiet"]):
        child = subprocess.Popen([f.binary, "fit", "s.csv", "--kernel", "matern12 + matern32 + matern12", "-o", "m.json", *quiet],
                                 cwd=f.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            _, told = child.communicate(timeout=100)
        finally:
            child.kill()
        require(child.returncode == 1 and ("bandgp: stopping" in told) == (not quiet), (child.returncode, told))


def test_a_report_counts_its_parts(f):
    f.series(n=3000, gap=0.05)
    f.run("fit", "data.csv", "-o", "m.json", "--quiet")
    for flags, parts in ((["--data", "data.csv"], 4), ([], 2)):  # a long series is kept without its data
        code, shown = f.terminal("report", "m.json", *flags, "-o", "r.html")
        require(code == 0 and "computing the report of" in shown or parts == 2, shown)
        told = [int(n) for n in re.findall(rf"(\d) of {parts} parts, \d+ s", shown)]
        require(told == list(range(1, parts + 1)), (told, shown))


def test_a_long_evaluation_is_announced(f):
    f.run("simulate", "--n", 400000, "--gap", 1, "--variance", 1, "--lengthscale", 1, "--noise", 0.1, "-o", "s.csv")
    at = ["nll", "s.csv", "--variance", 1, "--lengthscale", 400, "--noise", 0.1, "--method", "band", "--tolerance", 1e-6]

    def end(child, shown):
        if "takes about" in shown:
            child.kill()
    code, shown = f.terminal(*at, while_running=end)
    if code == -signal.SIGKILL:
        require(re.search(r"a band of \d+ neighbours on 400000 points takes about \d+ s; --method auto", shown), shown)
    else:
        require(code == 1 and "GB" in shown, shown)  # this machine has not the memory to try


if __name__ == "__main__":
    sys.exit(main(globals()))
