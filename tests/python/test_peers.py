# SPDX-License-Identifier: Apache-2.0
"""The comparison with other packages, at small size and with the packages of this environment."""

import csv
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "peers"))

import environments  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402
import run  # noqa: E402
import series  # noqa: E402
import table  # noqa: E402
import trials  # noqa: E402

pytest.importorskip("sklearn")
HERE = [peer for peer in peers.PEERS if peer.name in ("bandgp", "bandgp-dual", "bandgp-band", "scikit-learn", "scipy")]
FAILS = dataclasses.replace(HERE[0], name="fails", title="A peer that fails", function="no_such_function")
MISSING = dataclasses.replace(HERE[0], name="missing", title="A peer that is not there", module="tinygp", function="matern32")


@pytest.fixture(scope="module")
def build():
    binary = os.environ.get("BANDGP_CLI")
    if not binary:
        pytest.skip("BANDGP_CLI does not name the command")
    return Path(binary).parent


@pytest.fixture
def compare(build, tmp_path, monkeypatch):
    """Runs the comparison with given peers and flags; its results."""
    monkeypatch.delenv("BANDGP_DATA", raising=False)

    def call(*flags, who=HERE):
        monkeypatch.setattr(run, "chosen", lambda without, only: list(who))
        argv = ["--python", sys.executable, "--build", str(build), "--sizes", "300", "--repeats", "2", "-o", str(tmp_path), *flags]
        assert run.main(argv) == 0
        return json.loads((tmp_path / "peers.json").read_text())

    return call


def by_peer(results, name):
    return {line["peer"]: line for line in results["results"] if line["series"] == name}


def test_a_run(compare, tmp_path):
    results = compare("--no-sunspots", who=[*HERE, FAILS, MISSING])
    lines = by_peer(results, "simulated-300")
    assert {name: lines[name]["status"] for name in lines} == {**{peer.name: "done" for peer in HERE}, "fails": "failed", "missing": "missing"}
    assert "no_such_function" in lines["fails"]["reason"] and "No module named" in lines["missing"]["reason"]

    # scikit-learn's dense process, which shares nothing with this library: the same optimum, the same predictions.
    dense = lines["scikit-learn"]
    for name in ("bandgp", "bandgp-dual", "bandgp-band"):
        assert lines[name]["nll"] == pytest.approx(dense["nll"], abs=1e-6)  # L-BFGS-B stops within that of the optimum
        for field in ("nmse", "nlpd_joint", "nlpd_marginal"):
            assert lines[name][field] == pytest.approx(dense[field], rel=1e-4)
    assert lines["scipy"]["nll"] == pytest.approx(dense["nll"], abs=1e-3)
    assert lines["bandgp"]["fit_ratio"] == 1 < dense["fit_ratio"]
    assert lines["bandgp"]["repeats"] == 2 and lines["fails"]["repeats"] == 0
    assert all(lines[peer.name]["peak_mb"] >= lines[peer.name]["import_mb"] > 10 for peer in HERE)

    with open(tmp_path / "peers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["peer"] for row in rows] == list(lines)
    assert [float(row["nmse"]) for row in rows if row["nmse"]] == [line["nmse"] for line in lines.values() if "nmse" in line]

    html = (tmp_path / "peers.html").read_text()
    assert html.startswith("<!doctype html>") and "{{" not in html.split("<script")[0]
    data = json.loads(html.split('id="document">')[1].split("</script>")[0])
    assert [section["id"] for section in data["sections"]] == ["same", "near", "other", "accuracy", "simulated-300", "given", "calls"]
    listings = "".join(listing["text"] for listing in data["sections"][-1]["listings"])
    assert "GaussianProcessRegressor(kernel" in listings and "bandgp.GP(" in listings
    assert str(ROOT) not in html and any("no_such_function" in note for note in data["sections"][4]["notes"])


def test_a_second_run_starts_nothing(compare, tmp_path, monkeypatch):
    once = compare("--no-sunspots", who=HERE[:1])
    store = tmp_path / "peers.results.jsonl"
    before = store.read_bytes()
    monkeypatch.setattr(run, "run", lambda *arguments: pytest.fail("a trial that was done was run again"))
    store.write_bytes(before + b'{"key": "cut off')
    again = compare("--no-sunspots", who=HERE[:1])
    assert again["results"] == once["results"] and store.read_bytes() == before
    more = compare("--no-sunspots", "--stored", "--sizes", "300,400", "--repeats", "3", who=HERE[:2])
    assert more["results"][0] == once["results"][0] and [line["reason"] for line in more["results"][1:]] == ["not measured"] * 3


def test_a_limit_ends_a_trial_and_longer_series(compare, tmp_path):
    flags = ("--no-sunspots", "--sizes", "300,400", "--repeats", "1")
    results = compare(*flags, "--seconds", "0.05", who=HERE[:1])
    assert [(line["status"], line["reason"]) for line in results["results"]] == [
        ("time", "more than 0.05 s"), ("left out", "more than 0.05 s at n = 300")]
    results = compare(*flags, "--seconds", "60", "--gigabytes", "0.01", who=HERE[:1])
    assert [line["status"] for line in results["results"]] == ["memory", "left out"]
    results = compare(*flags, "--seconds", "60", who=HERE[:1])  # more is allowed: tried again
    assert [line["status"] for line in results["results"]] == ["done", "done"]


def test_a_peer_that_cannot_predict_has_still_been_trained(build, tmp_path, monkeypatch):
    monkeypatch.delenv("BANDGP_DATA", raising=False)
    calls = tmp_path / "calls"
    calls.mkdir()
    (calls / "broken.py").write_text("from problem import Fitted\nPACKAGES = ()\n"
                                     "def fit(problem):\n    return Fitted(1.5, {}, lambda: [][0])\n")
    for file in ("given.py", "problem.py", "trial.py"):
        shutil.copy(ROOT / "tools" / "peers" / file, tmp_path)
    monkeypatch.setattr(trials, "HERE", tmp_path)
    broken = dataclasses.replace(HERE[0], module="broken", function="fit")
    made = series.simulated(40, build / "bandgp", tmp_path)
    result = trials.run(broken, made, Path(sys.executable), tmp_path, trials.Limits(60, 4))
    assert (result["status"], result["reason"]) == ("failed", "IndexError: list index out of range while predicting")
    assert result["fit_seconds"] < 1 and "nmse" not in result


def test_sunspots_are_split_once(tmp_path, monkeypatch):
    monkeypatch.delenv("BANDGP_DATA", raising=False)
    made = series.sunspots(tmp_path)
    assert (made.n, made.held_out) == (2256, 564)
    train, test = ({tuple(row) for row in csv.reader(file.read_text().splitlines()[1:])} for file in (made.train, made.test))
    with open(ROOT / "data" / "sunspots.csv", newline="") as file:
        assert train | test == {tuple(row) for row in list(csv.reader(file))[1:]} and not train & test
    before = made.test.read_bytes()
    assert series.sunspots(tmp_path).test.read_bytes() == before


def test_choice_of_peers():
    names = lambda **choice: [peer.name for peer in peers.chosen(choice.get("without", []), choice.get("only", []))]  # noqa: E731
    assert len(names()) == len(peers.PEERS) == len(set(names()))
    assert not {"gpytorch", "gpytorch-kiss"} & set(names(without=["gpytorch"])) and "gpflow" in names(without=["gpytorch"])
    assert names(only=["celerite2"]) == ["bandgp", "celerite2"]
    with pytest.raises(ValueError, match="there is no peer 'gpytoch'"):
        names(without=["gpytoch"])


def test_every_peer_has_its_call_and_its_pins():
    assert {peer.environment for peer in peers.PEERS} == set(peers.ENVIRONMENTS) == set(environments.GIGABYTES)
    for peer in peers.PEERS:
        assert f"def {peer.function}(problem)" in peer.code
        pins = environments.requirements(peer.environment).read_text().splitlines()
        assert pins and all("==" in line for line in pins)
    for kind in ("exact", "near", "other"):  # told apart on their chart
        marks = [peer.mark for peer in peers.PEERS if peer.kind == kind or peer.name == peers.REFERENCE]
        assert len(marks) == len(set(marks)) and max(marks) < 10


def test_an_environment_that_cannot_be_made(tmp_path, monkeypatch, capsys):
    bad = tmp_path / "requirements.txt"
    bad.write_text("no-such-package-of-bandgp @ file:///nowhere/at/all.whl\n")
    monkeypatch.setattr(environments, "requirements", lambda name: bad)
    pythons, problems = environments.make(tmp_path / "made", ["gpy"])
    assert not pythons and "gpy" in problems and "about 0.3 GB" in capsys.readouterr().err


def test_times_are_compared_by_medians():
    times = lambda *seconds: [{"fit_seconds": s} for s in seconds]  # noqa: E731
    assert run.ratio(times(2, 30, 6), times(1, 10, 2)) == {"fit_ratio": 3}
    assert run.ratio(times(4), times(1, 1, 100)) == {"fit_ratio": 4}
    assert run.ratio([{"status": "time"}], times(1)) == run.ratio(times(1), [{}]) == {}


def test_failures_are_told_apart():
    assert trials.failure(1, "Traceback\nnumpy._core._exceptions._ArrayMemoryError: Unable")["status"] == "memory"
    assert trials.failure(-9, "")["status"] == "memory"
    assert trials.failure(-11, "oh")["reason"] == "signal 11: oh"
    assert trials.failure(1, "x\ntorch.linalg.NotThereError: b\n  and more\n")["reason"] == "torch.linalg.NotThereError: b"
    assert trials.failure(1, "a\nValueError: b\n") == {"status": "failed", "reason": "ValueError: b"}


def test_the_page_lets_nothing_out_of_its_data(compare, tmp_path):
    results = compare("--no-sunspots", who=HERE[:1])
    del results["results"][0]["nlpd_joint"]
    results["results"][0] |= {"status": "failed", "reason": "</script><script>alert(1)</script>"}
    assert "<script>alert" not in page.html(results)


def test_readme_has_the_table_of_the_kept_figures():
    figures = json.loads((ROOT / "docs" / "peers.json").read_text())
    readme = (ROOT / "README.md").read_text()
    assert table.with_table(readme, figures) == readme, "run tools/peers/table.py --write"
    assert sum(line.startswith("|") for line in table.table(figures).splitlines()) == 2 + len(figures["peers"])


def test_help_needs_no_build():
    shown = subprocess.run([str(ROOT / "dev"), "peers", "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and "--without" in shown.stdout
