#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments, on a small scale: files, numbers, resuming after a kill. reproduce.py BINARY [NAME]"""

import json
import os
import signal
import subprocess
import sys
import time

from support import Skip, main, require

NO_DATA = {k: v for k, v in os.environ.items() if k != "BANDGP_DATA"}


def reproduce(f, *arguments, code=0, environment=NO_DATA):
    done = subprocess.run([f.binary, "reproduce", *arguments], cwd=f.path, capture_output=True, text=True, timeout=500, env=environment)
    require(done.returncode == code, f"exit code {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not k.endswith("seconds") and k != "claims"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def test_bandwidth_finds_table_1(f):
    reproduce(f, "bandwidth", "--quick", "-o", "out")
    require(sorted(p.name for p in (f.path / "out").iterdir()) ==
            ["bandwidth.csv", "bandwidth.html", "bandwidth.json", "bandwidth.results.jsonl"], "files")
    result = json.loads((f.path / "out/bandwidth.json").read_text())
    table = [[case[rule] for case in result["cases"]] for rule in ("paper", "corollary", "theorem", "lemma", "true_limit")]
    require(table == [[19, 31, 38], [19, 31, 38], [20, 32, 40], [16, 26, 30], [15, 25, 29]], table)
    for case in result["cases"]:
        methods = case["starts"]["advised"]["methods"]
        certified = [m for m in methods if m["parameter"] is None][0]
        widest = [m for m in methods if m["parameter"] == 50][0]
        require(certified["valid"] and widest["failures"] == 0, case["case"])
        require(abs(widest["nmse"] / certified["nmse"] - 1) < 1e-3, case["case"])
        require(case["starts"]["advised"]["within_one_percent_from"] <= case["corollary"] + 7, case["case"])
        require(not [m for m in methods if m["parameter"] == 1][0]["valid"], "k = 1 cannot be valid here")
    require(result["n_trained_on"] == 800 and "Quick" in result["note"], "what quick means")
    rows = (f.path / "out/bandwidth.csv").read_text().splitlines()
    require(len(rows) == 1 + 3 * 2 * 9, len(rows))


def test_sunspots_without_data_folder_uses_the_bundled_series(f):
    done = reproduce(f, "sunspots", "--quick", "-o", "out")
    require("bundled series" in done.stdout, done.stdout)
    result = json.loads((f.path / "out/sunspots.json").read_text())
    require("bundled" in result["source"] and "2820" in result["note"], result["source"])
    by = {(m["method"], m["parameter"], m["kernel"]): m for m in result["methods"]}
    exact, band, dual = (by[name, None, "se"] for name in ("exact", "band", "dual"))
    for method in (band, dual):
        require(abs(method["nmse"] / exact["nmse"] - 1) < 1e-3 and abs(method["nlpd_joint"] - exact["nlpd_joint"]) < 0.05, method)
    require({m["method"] for m in result["methods"]} == {"exact", "band", "dual", "fitc", "vfe", "taper", "vecchia", "auto"}, "methods")
    require(("auto", None, "se + se") in by and ("fitc", 100, "se") in by, by.keys())
    require("bundled" in (f.path / "out/sunspots.html").read_text(), "page")


def test_a_killed_run_continues_and_ends_the_same(f):
    reproduce(f, "bandwidth", "--quick", "-o", "whole")
    child = subprocess.Popen([f.binary, "reproduce", "bandwidth", "--quick", "-o", "part", "--threads", "1"], cwd=f.path, env=NO_DATA,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = f.path / "part/bandwidth.results.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and (not store.exists() or store.read_text().count("\n") < 10):
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = store.read_text()
    require(10 <= kept.count("\n") < 108, kept.count("\n"))
    require(not (f.path / "part/bandwidth.json").exists(), "half-written")
    whole_lines = kept[:kept.rindex("\n") + 1]
    store.write_text(whole_lines + whole_lines.splitlines()[0][:40])  # a last line that was not written to its end
    reproduce(f, "bandwidth", "--quick", "-o", "part")
    require(store.read_text().startswith(whole_lines), "what was done was done again")
    require(store.read_text().count("\n") == 108, store.read_text().count("\n"))
    results = [without_times(json.loads((f.path / folder / "bandwidth.json").read_text())) for folder in ("whole", "part")]
    require(results[0] == results[1], "another result")


def test_damaged_results_are_computed_again(f):
    reproduce(f, "bandwidth", "--quick", "-o", "out")
    before = without_times(json.loads((f.path / "out/bandwidth.json").read_text()))
    store = f.path / "out/bandwidth.results.jsonl"
    lines = store.read_text().splitlines()
    lines[3] = lines[3][:50]
    lines[5] = '{"key": 3}'
    store.write_text("\n".join(lines) + "\n")
    reproduce(f, "bandwidth", "--quick", "-o", "out")
    require(without_times(json.loads((f.path / "out/bandwidth.json").read_text())) == before, "another result")


def test_mistakes(f):
    f.refused("reproduce", "moon", "-o", "out", says="sunspots, eeg or bandwidth")
    f.refused("reproduce", "bandwidth", says="-o DIR")
    f.refused("reproduce", "sunspots", "--data", "nowhere", "-o", "out", says="nowhere")
    (f.path / "empty").mkdir()
    f.refused("reproduce", "sunspots", "--data", "empty", "-o", "out", says=["sunspots_3315", "README"])
    f.refused("reproduce", "eeg", "--data", "empty", "-o", "out", says=["helsinki_eeg36", "README"])
    f.refused("reproduce", "bandwidth", "-o", "out", "--threads", 0, says="--threads is 0")
    require(not (f.path / "out").exists(), "what was refused left a folder behind")
    f.write("file", "")
    f.refused("reproduce", "bandwidth", "-o", "file/out", says="file/out")


def test_a_data_folder_without_sunspots_falls_back_unless_it_was_asked_for(f):
    (f.path / "empty").mkdir()
    done = reproduce(f, "sunspots", "--quick", "-o", "out", environment={**NO_DATA, "BANDGP_DATA": str(f.path / "empty")})
    require("bundled series" in done.stdout, done.stdout)


def test_real_data(f):
    data = os.environ.get("BANDGP_DATA", "")
    if not os.path.exists(f"{data}/eeg/helsinki_eeg36_30s.csv.gz"):
        raise Skip(f"no data at {data or 'BANDGP_DATA'}")
    reproduce(f, "eeg", "--quick", "-o", "out", environment=os.environ)
    reproduce(f, "sunspots", "--quick", "-o", "out", environment=os.environ)
    eeg, sunspots = (json.loads((f.path / f"out/{name}.json").read_text()) for name in ("eeg", "sunspots"))
    require("bundled" not in sunspots["source"], sunspots["source"])
    require("Vecchia stops at 100" in eeg["note"], eeg["note"])
    exact, band = (next(m for m in eeg["methods"] if m["method"] == name and m["parameter"] is None) for name in ("exact", "band"))
    require(abs(band["nlpd_joint"] - exact["nlpd_joint"]) < 0.1, (band, exact))


if __name__ == "__main__":
    sys.exit(main(globals()))
