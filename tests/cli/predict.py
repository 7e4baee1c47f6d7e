#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bandgp predict: predict.py BINARY [NAME]"""

import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from support import ROOT, SUNSPOTS, Skip, is_progress, main, require

HEADER = ["time", "mean", "std_latent", "std_observed"]


def fitted(f, *flags, n=60, gap=1.0, code=0):
    """A model of f.series() with given parameters: SE unless the flags say otherwise."""
    f.series(n=n, gap=gap)
    if "--kernel" not in flags:
        flags = (*flags, "--fix", "variance=1,lengthscale=3,noise=0.1")
    f.run("fit", "data.csv", *flags, "-o", "m.json", code=code)
    return "m.json"


def table(text):
    header, *rows = text.splitlines()
    return header.split(","), [[float(cell) for cell in row.split(",")] for row in rows]


def solve(a, b):
    """a x = b by elimination; a is positive definite."""
    n = len(b)
    a, b = [row[:] for row in a], b[:]
    for i in range(n):
        for j in range(i + 1, n):
            factor = a[j][i] / a[i][i]
            for k in range(i, n):
                a[j][k] -= factor * a[i][k]
            b[j] -= factor * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][k] * b[k] for k in range(i + 1, n))) / a[i][i]
    return b


def test_predictions_are_the_dense_ones(f):
    fitted(f, "--mean", "zero", n=40)
    _, data = table((f.path / "data.csv").read_text())
    names, rows = table(f.run("predict", "m.json", "--grid", "-2,41,0.5").stdout)
    require(names == HEADER and len(rows) == 87, (names, len(rows)))
    k = lambda s, t: math.exp(-0.5 * ((s - t) / 3) ** 2)
    times, values = [row[0] for row in data], [row[1] for row in data]
    a = [[k(s, t) + (0.1 if i == j else 0) for j, t in enumerate(times)] for i, s in enumerate(times)]
    alpha = solve(a, values)
    for t, mean, latent, observed in rows[::7]:
        cross = [k(s, t) for s in times]
        truth = sum(c * x for c, x in zip(cross, alpha))
        variance = 1 - sum(c * x for c, x in zip(cross, solve(a, cross)))
        require(abs(mean - truth) < 1e-4, (t, mean, truth))
        require(abs(latent - math.sqrt(variance)) < 1e-4, (t, latent, variance))
        require(abs(observed - math.sqrt(variance + 0.1)) < 1e-4, (t, observed, variance))


def test_times_come_back_as_they_were_written(f):
    fitted(f)
    names, rows = table(f.run("predict", "m.json", "--grid", "0,1,0.1").stdout)
    text = f.run("predict", "m.json", "--grid", "0,1,0.1").stdout
    require([line.split(",")[0] for line in text.splitlines()[1:]] ==
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"], text)
    given = ["17.25", "3", "0.1", "1e-07", "59.000000000000007", "3"]  # any order, repeated
    f.write("at.csv", "when\n" + "\n".join(given) + "\n")
    out = f.run("predict", "m.json", "--at", "at.csv").stdout.splitlines()[1:]
    require([float(line.split(",")[0]) for line in out] == [float(t) for t in given], out)
    require(out[1] == out[5], "the same time twice")
    f.write("wide.csv", "a;when\n" + "\n".join(f"9;{t}" for t in given) + "\n")
    require(f.run("predict", "m.json", "--at", "wide.csv", "--x", "when").stdout.splitlines()[1:] == out, "--x by name")
    require(f.run("predict", "m.json", "--at", "wide.csv", "--x", 2).stdout.splitlines()[1:] == out, "--x by number")
    require(f.run("predict", "m.json", "--at", "-", stdin="\n".join(given)).stdout.splitlines()[1:] == out, "stdin")
    model = (f.path / "m.json").read_text()
    require(f.run("predict", "-", "--at", "at.csv", stdin=model).stdout.splitlines()[1:] == out, "model from stdin")


def test_a_horizon_goes_on_from_the_data(f):
    """Numbers and dates, in the data's own spacing or another; the same rows as the times written out."""
    fitted(f, n=40, gap=0.1)
    _, rows = table(f.run("predict", "m.json", "--horizon", "0.5").stdout)
    require([round(r[0], 12) for r in rows] == [4.0, 4.1, 4.2, 4.3, 4.4], rows)
    _, again = table(f.run("predict", "m.json", "--grid", "4,4.4,0.1").stdout)
    require(all(math.isclose(a, b, rel_tol=1e-9) for r, s in zip(rows, again) for a, b in zip(r, s)), again)
    _, rows = table(f.run("predict", "m.json", "--horizon", "1", "--step", "0.25", "--components").stdout)
    require([round(r[0], 9) for r in rows] == [4.15, 4.4, 4.65, 4.9] and len(rows[0]) == 6, rows)
    hours = [f"2024-02-{28 + h // 24:02d} {h % 24:02d}:00" for h in range(48)]
    f.write("load.csv", "time,value\n" + "".join(f"{t},{math.sin(h / 4):.3f}\n" for h, t in enumerate(hours) if h % 7 != 3))
    f.run("fit", "load.csv", "--fix", "variance=1,lengthscale=4,noise=0.1", "-o", "h.json")
    lines = f.run("predict", "h.json", "--horizon", "3h").stdout.splitlines()[1:]
    require([line.split(",")[0] for line in lines] == ["2024-03-01 00:00", "2024-03-01 01:00", "2024-03-01 02:00"], lines)
    lines = f.run("predict", "h.json", "--horizon", "1d", "--step", "12h").stdout.splitlines()[1:]
    require([line.split(",")[0] for line in lines] == ["2024-03-01 11:00", "2024-03-01 23:00"], lines)
    f.refused("predict", "h.json", "--horizon", "30min", says=["--horizon", "shorter than a step"])
    f.refused("predict", "h.json", "--horizon", "soon", says=["--horizon", "soon"])
    f.refused("predict", "m.json", "--horizon", "48h", says=["--horizon", "48h"])
    f.refused("predict", "m.json", "--horizon", "-1", says=["--horizon"])
    f.refused("predict", "m.json", "--horizon", "1", "--step", "0", says=["--step"])
    f.refused("predict", "m.json", "--horizon", "1", "--grid", "0,1,1", says=["--horizon", "--grid"])
    f.refused("predict", "m.json", "--grid", "0,1,1", "--step", "1", says=["--step"])


def test_json_has_the_same_columns(f):
    fitted(f)
    flags = ["predict", "m.json", "--grid", "0,20,0.25", "--samples", 2, "--components"]
    names, rows = table(f.run(*flags).stdout)
    result = f.json(*flags)
    require(names == HEADER + ["sample_1", "sample_2", "mean_1", "std_1"], names)
    require(list(result) == ["rows", *names] and result["rows"] == 81, list(result))
    for c, name in enumerate(names):
        require(result[name] == [row[c] for row in rows], name)
    f.run(*flags, "--json", "-o", "p.json")
    require(json.loads((f.path / "p.json").read_text()) == result, "-o")


def test_components_add_up_to_the_curve(f):
    fitted(f, "--kernel", "se + matern32", "--mean", "zero", n=120)
    names, rows = table(f.run("predict", "m.json", "--grid", "0,119,0.7", "--components").stdout)
    require(names == HEADER + ["mean_1", "std_1", "mean_2", "std_2"], names)
    for row in rows:
        require(abs(row[4] + row[6] - row[1]) < 1e-6, row)


def test_a_sample_is_one_curve_however_it_is_cut_into_pieces(f):
    fitted(f)
    # 200,001 rows go through in two pieces of numbers and many of text; every thousandth alone must be the same.
    flags = ["--samples", 3, "--seed", 5]
    _, fine = table(f.run("predict", "m.json", "--grid", "0,60,0.0003", *flags).stdout)
    f.write("some.csv", "\n".join(repr(row[0]) for row in fine[::1000][::-1]))
    _, coarse = table(f.run("predict", "m.json", "--at", "some.csv", *flags).stdout)
    require(len(fine) == 200001 and len(coarse) == 201, (len(fine), len(coarse)))
    for a, b in zip(fine[::1000][::-1], coarse):
        require(all(abs(x - y) < 1e-6 for x, y in zip(a, b)), (a, b))  # what is left out depends on the neighbours asked for
        require(a[4:] == b[4:], (a, b))
    step = max(abs(a[4] - b[4]) for a, b in zip(fine, fine[1:]))
    require(step < 1e-3, f"a jump of {step} in a smooth curve")
    require(table(f.run("predict", "m.json", "--grid", "0,3,1", "--samples", 1, "--seed", 6).stdout)[1][0][4]
            != fine[0][4], "another seed, another curve")


def test_samples_scatter_as_the_deviations_say(f):
    # Methods with a model of their own draw from that one, not from the exact GP.
    for flags in ((), ("--kernel", "0.8*matern32(lengthscale=3)"), ("--method", "exact"), ("--method", "fitc", "--inducing", 6),
                  ("--method", "vfe", "--inducing", 6), ("--method", "taper", "--taper-range", 6), ("--method", "vecchia", "--neighbours", 2)):
        fitted(f, *flags)
        _, rows = table(f.run("predict", "m.json", "--grid", "5,65,10", "--samples", 4000, "--seed", 1).stdout)
        for row in rows:
            draws = row[4:]
            mean = sum(draws) / len(draws)
            deviation = math.sqrt(sum((d - mean) ** 2 for d in draws) / len(draws))
            require(abs(mean - row[1]) < 5 * row[2] / math.sqrt(len(draws)), (row[:4], mean))
            require(abs(deviation / row[2] - 1) < 5 / math.sqrt(2 * len(draws)), (row[:4], deviation))


def test_samples_of_other_kernels_have_a_limit_that_is_told(f):
    fitted(f, "--kernel", "wendland2")
    f.run("predict", "m.json", "--grid", "0,59,0.5", "--samples", 2)
    f.refused("predict", "m.json", "--grid", "0,59,0.01", "--samples", 2, says=["--samples", "5901 rows", "2000"])
    fitted(f, "--kernel", "matern32")  # draws take linear time
    f.run("predict", "m.json", "--grid", "0,59,0.01", "--samples", 2)
    fitted(f, "--method", "taper")
    f.refused("predict", "m.json", "--grid", "0,59,0.01", "--samples", 2, says=["--samples of the method taper", "2000"])


def test_a_million_rows_pass_through_little_memory(f):
    fitted(f)
    # A child starts with what its parent has touched: a small parent measures.
    measure = ("import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]); _, status, usage = os.wait4(child.pid, 0); "
               "print(usage.ru_maxrss / 1e3 if status == 0 else -1)")
    done = subprocess.run([sys.executable, "-c", measure, f.binary, "predict", "m.json", "--grid", "0,59,0.000059", "-o", "p.csv"],
                          cwd=f.path, capture_output=True, text=True)
    megabytes, size = float(done.stdout), (f.path / "p.csv").stat().st_size
    require(all(is_progress(line) for line in done.stderr.splitlines(keepends=True)) and size > 60e6, (done, size))
    limit = 500 if "asan" in f.binary or "tsan" in f.binary else 40  # the text alone has 70; measured: 15
    require(0 < megabytes < limit, f"{megabytes} MB")
    with open(f.path / "p.csv") as file:
        require(sum(1 for _ in file) == 1000002, "rows")


def test_rows_that_continue_the_data_are_counted(f):
    fitted(f)
    inside = f.run("predict", "m.json", "--grid", "50,59,1")
    require(inside.told == "", inside.told)
    for grid, says in (("53,65,1", "6 of 13 rows lie after the data, which end at 59"), ("-1,5,1", "1 of 7 rows lies before the data, which begin at 0"),
                       ("-2,60,1", "1 of 63 rows lies after the data, which end at 59; 2 lie before the data, which begin at 0")):
        done = f.run("predict", "m.json", "--grid", grid)
        require(done.told == f"bandgp: {says}\n", done.told)
        quiet = f.run("predict", "m.json", "--grid", grid, "--quiet")
        require(quiet.told == "" and quiet.stdout == done.stdout, quiet.told)


def test_long_work_says_so_before_it_starts_and_counts_draws_and_rows(f):
    # States of 300,000 points and a hundred draws: half a minute, ended here as soon as it has said what it had to.
    f.run("simulate", "--n", 300000, "--gap", 1, "--kernel", "1*matern32(lengthscale=30)", "--noise", 0.1, "-o", "s.csv")
    f.run("fit", "s.csv", "--kernel", "matern32", "-o", "m.json", "--quiet")
    child = subprocess.Popen([f.binary, "predict", "m.json", "--grid", "0,299999,1", "--samples", "600", "-o", "p.csv"], cwd=f.path,
                             stderr=subprocess.PIPE, text=True)
    try:
        began = time.monotonic()
        first = child.stderr.readline()
        require(time.monotonic() - began < 8 or "asan" in f.binary, "before it starts")
        require(re.fullmatch(r"bandgp: predicting 300000 rows with 600 draws takes about \S+ (s|min)\n", first), first)
    finally:
        child.kill()
        child.wait()
        child.stderr.close()
    require("p.csv" not in f.files(), "it was not done yet")
    code, shown = f.terminal("predict", "m.json", "--grid", "0,299999,1", "--samples", 30, "-o", "p.csv")
    draws = [int(n) for n in re.findall(r"(\d+) of 30 draws, \d+ s", shown)]
    require(code == 0 and draws == list(range(1, 31)), (code, draws))
    rows = [int(n) for n in re.findall(r"(\d+) of 300000 rows, \d+ s", shown)]
    require(rows == sorted(rows) and rows[-1] == 300000 and len(rows) > 60, rows)


def test_the_first_of_costly_rows_are_told_soon(f):
    # The dense matrix of 3000 points: a row with its variance takes milliseconds, and all of them are no piece.
    f.series(n=3000)
    f.run("fit", "data.csv", "--method", "exact", "--fix", "variance=1,lengthscale=3,noise=0.1", "-o", "m.json", "--quiet", code=None)
    reached = []

    def end(child, shown):
        rows = re.findall(r"(\d+) of 100001 rows", shown)
        if rows:
            reached.append(int(rows[0]))
            child.kill()
    f.terminal("predict", "m.json", "--grid", "0,2999,0.02999", "-o", "p.csv", while_running=end)
    require(reached and reached[0] < 20000, reached)


def test_rows_far_outside_are_remarked_on(f):
    fitted(f)
    done = subprocess.run([f.binary, "predict", "m.json", "--grid", "-100,100,10"], cwd=f.path, capture_output=True, text=True)
    require(done.returncode == 0, done)
    require("14 of 21 rows lie more than 3 length-scales (9) outside the data, 0 to 59" in done.stderr, done.stderr)
    require(1 < table(done.stdout)[1][0][2] < 1.1, "the prior, and the mean's uncertainty")
    require(f.run("predict", "m.json", "--grid", "-100,100,10", "--quiet").stderr == "", "quiet")


def test_an_uncertified_model_predicts_and_says_so(f):
    f.series()
    f.run("fit", "data.csv", "--bandwidth", 0, "--fix", "variance=1,lengthscale=3,noise=0.1", "-o", "m.json", code=1)
    done = f.run("predict", "m.json", "--grid", "0,10,1", code=1)
    require(len(done.stdout.splitlines()) == 12 and "no certificate" in done.stderr, done)


def test_mistakes(f):
    fitted(f)
    f.refused("predict", says="MODEL")
    f.refused("predict", "m.json", says="give one of --at FILE, --grid A,B,STEP and --horizon")
    f.write("at.csv", "1\n2\n")
    f.refused("predict", "m.json", "--at", "at.csv", "--grid", "0,1,1", says="one of --at")
    f.refused("predict", "m.json", "--grid", "0,1,1", "--x", "t", says="--x")
    f.refused("predict", "-", "--at", "-", says="standard input")
    for grid, says in (("0,1", "A,B,STEP"), ("0,1,0.1,2", "A,B,STEP"), ("0,1,0", "STEP"), ("0,1,-1", "STEP"), ("1,0,1", "before"),
                       ("a,1,1", "not a number"), ("0,nan,1", "finite"), ("0,1e300,1e-9", "steps"), ("", "A,B,STEP")):
        f.refused("predict", "m.json", f"--grid={grid}", says=["--grid", says])
    for samples in (-1, 1.5, "x"):
        f.refused("predict", "m.json", "--grid", "0,1,1", f"--samples={samples}", says="--samples")
    f.refused("predict", "m.json", "--grid", "0,1,1", "--seed", -1, says="--seed")
    f.refused("predict", "m.json", "--grid", "0,1,1", "--samples", 1e12, says=["--samples", "GB"])
    f.refused("predict", "m.json", "--grid", "0,5e9,1", "--json", says=["--json", "GB"])
    f.refused("predict", "data.csv", "--grid", "0,1,1", says=["data.csv", "not a bandgp model"])
    f.refused("predict", "missing.json", "--grid", "0,1,1", says="cannot open missing.json: No such file")
    f.refused("predict", "m.json", "--at", "missing.csv", says=["missing.csv", "No such file"])
    f.write("holes.csv", "t,u\n1,2\nNA,3\n")
    f.refused("predict", "m.json", "--at", "holes.csv", says=["holes.csv", "holes.csv:3: has no time"])
    f.write("bad.csv", "1\nx\n")
    f.refused("predict", "m.json", "--at", "bad.csv", says="bad.csv:2")
    f.refused("predict", "m.json", "--at", "at.csv", "-o", "no/such/p.csv", says="no/such/p.csv")
    if os.geteuid() != 0:  # root reads everything
        (f.path / "m.json").chmod(0)
        f.refused("predict", "m.json", "--grid", "0,1,1", says=["m.json", "Permission denied"])
        (f.path / "m.json").chmod(0o644)
    text = (f.path / "m.json").read_text()
    f.write("cut.json", text[:len(text) // 2])
    f.refused("predict", "cut.json", "--grid", "0,1,1", says="cut.json")
    require(f.files() == ["at.csv", "bad.csv", "cut.json", "data.csv", "holes.csv", "m.json"], f.files())


# --- failures while writing --------------------------------------------------------------------------------------------

MANY = ["predict", "m.json", "--grid", "0,60,0.00001", "--quiet"]  # six million rows: seconds


def test_killed_while_writing_leaves_nothing(f):
    fitted(f)
    f.write("old.csv", "old")
    for signal_number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        child = subprocess.Popen([f.binary, *MANY, "-o", "old.csv"], cwd=f.path)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:  # until it has written a good part
            written = Path(f"/proc/{child.pid}/io").read_text() if child.poll() is None else ""
            if "wchar" in written and int(written.split("wchar: ")[1].split()[0]) > 5e6:
                break
            time.sleep(0.01)
        child.send_signal(signal_number)
        require(child.wait(timeout=30) == -signal_number, "it was over before")
        require((f.path / "old.csv").read_text() == "old", "the old file was touched")
        left = [name for name in f.files() if name.endswith(".part")]
        if left and signal_number == signal.SIGKILL:
            for name in left:
                (f.path / name).unlink()
            raise Skip("this file system has no files without a name")
        require(not left, left)


def test_disk_full_leaves_nothing(f):
    fitted(f)
    f.write("old.csv", "old")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    done = subprocess.run([f.binary, *MANY, "-o", "old.csv"], cwd=f.path, capture_output=True, text=True, preexec_fn=small_files)
    require(done.returncode == 2 and "cannot write old.csv: File too large" in done.stderr, done)
    require(f.files() == ["data.csv", "m.json", "old.csv"] and (f.path / "old.csv").read_text() == "old", f.files())
    if os.geteuid() == 0:  # a real full disk
        (f.path / "small").mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", f.path / "small"], capture_output=True).returncode == 0:
            try:
                f.refused(*MANY, "-o", "small/p.csv", says=["small/p.csv", "No space left"])
                require(list((f.path / "small").iterdir()) == [], "left over")
            finally:
                subprocess.run(["umount", f.path / "small"], check=True)
    with open("/dev/full", "w") as full:
        done = subprocess.run([f.binary, *MANY], cwd=f.path, stdout=full, stderr=subprocess.PIPE, text=True)
    require(done.returncode == 2 and "cannot write to standard output" in done.stderr, done)


def test_a_reader_that_has_seen_enough_ends_it_quietly(f):
    fitted(f)
    for ignored in (False, True):
        child = subprocess.Popen([f.binary, *MANY], cwd=f.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 restore_signals=not ignored)
        require(child.stdout.readline() == b"time,mean,std_latent,std_observed\n", "header")
        child.stdout.close()
        require(child.stderr.read() == b"" and child.wait(timeout=30) == -signal.SIGPIPE, child.returncode)


def test_a_pipe_and_a_link_are_written_to(f):
    fitted(f)
    f.write("real.csv", "old")
    (f.path / "link.csv").symlink_to("real.csv")
    f.run("predict", "m.json", "--grid", "0,1,1", "-o", "link.csv")
    require((f.path / "link.csv").is_symlink() and (f.path / "real.csv").read_text().startswith("time,"), "link")
    os.mkfifo(f.path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=f.path, stdout=subprocess.PIPE, text=True)
    f.run("predict", "m.json", "--grid", "0,1,1", "-o", "pipe")
    require(reader.communicate(timeout=30)[0] == (f.path / "real.csv").read_text(), "pipe")


def test_files_of_version_1_predict_as_when_they_were_written(f):
    """Files and predictions are of the last program that wrote version 1. Another form of the same GP may hold them today:
    both are within the certificate of the exact GP, and what rounding adds is far below 1e-9."""
    models = sorted((ROOT / "tests" / "golden" / "model_v1").glob("*.json"))
    require(len(models) == 8, models)
    for path in models:
        model, stored = json.loads(path.read_text()), path.with_suffix(".csv")
        require(model["format_version"] == 1, path)
        at_times = "".join(line.split(",")[0] + "\n" for line in stored.read_text().splitlines())
        f.write("at.csv", at_times)
        lines = f.run("predict", path, "--at", "at.csv", "--quiet").stdout.splitlines()
        expected = stored.read_text().splitlines()
        require(lines[0] == expected[0] and len(lines) == len(expected) == 26, (path, lines))
        bounds = {key: 2 * (model["certificate"][key] or 0) for key in ("mean_error", "variance_error")}
        for line, other in zip(lines[1:], expected[1:]):
            (time_now, *now), (time_then, *then) = line.split(","), other.split(",")
            require(time_now == time_then, (path, line, other))
            (mean, *stds), (old_mean, *old_stds) = map(float, now), map(float, then)
            require(abs(mean - old_mean) <= bounds["mean_error"] + 1e-9 * (abs(old_mean) + old_stds[1]), (path, line, other))
            for std, old in zip(stds, old_stds):
                require(abs(std**2 - old**2) <= bounds["variance_error"] + 1e-9 * old_stds[1]**2, (path, line, other))


def test_the_bundled_series(f):
    f.run("fit", SUNSPOTS, "-o", "m.json")
    _, rows = table(f.run("predict", "m.json", "--at", SUNSPOTS, "--quiet").stdout)
    require(len(rows) == 2820, len(rows))
    values = [float(line.split(",")[1]) for line in SUNSPOTS.read_text().splitlines()[1:]]
    inside = sum(abs(y - row[1]) < 1.96 * row[3] for y, row in zip(values, rows)) / len(rows)
    require(0.92 < inside < 0.99, inside)


if __name__ == "__main__":
    sys.exit(main(globals()))
