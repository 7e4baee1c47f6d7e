# SPDX-License-Identifier: Apache-2.0
"""The results as a page in the look of the others: its template is web/document.html, bundled by web/build.mjs."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {"fit_seconds": 3, "fit_ratio": 3, "predict_seconds": 3, "nmse": 4, "nlpd_joint": 6, "nll": 8, "peak_mb": 3}  # digits
HEADINGS = ["Peer", "Model", "Train [s]", "÷ bandgp", "Predict [s]", "NMSE", "NLPD, joint", "NLL", "Peak [MB]"]
KINDS = {"exact": ("the exact SE model", 0), "near": ("approximations of it", 1), "other": ("other models", 2)}  # name, mark
SIGNS = {"time": "too slow", "memory": "too large", "missing": "not installed", "left out": "not tried", "failed": "failed"}


# --- what a page consists of: the structures of src/bandgp/report/document.hpp -------------------------------------------


def section(id: str, title: str, lead: str, charts=(), tables=(), notes=(), listings=()) -> dict:
    return {"id": id, "title": title, "lead": lead, "charts": list(charts), "legend": [], "tables": list(tables),
            "notes": list(notes), "listings": list(listings)}


def chart(title: str, how: str, x: str, y: str, series: list[dict], y_log: bool = True) -> dict:
    return {"title": title, "how": how, "says": "", "x": {"label": x, "log": True, "most": None},
            "y": {"label": y, "log": y_log, "most": None}, "series": series, "rules": []}


def marks(name: str, mark: int, points: list[tuple[float, float]], label: str = "") -> dict:
    return {"name": name, "mark": mark, "line": len(points) > 1,
            "points": [{"x": x, "y": y, "label": label, "hollow": False} for x, y in points]}


def card(label: str, figure: str, unit: str, text: str) -> dict:
    return {"label": label, "figure": figure, "unit": unit, "text": text}


# --- words and numbers -----------------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 4) -> str:
    if value is None:
        return "–"
    return (f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}").replace("-", "−")


def size(n: int) -> str:
    power = len(str(n)) - 1
    return "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[power] if n == 10**power else str(n)


def line_of(results: dict, peer: str, series: str) -> dict:
    return next(line for line in results["results"] if (line["peer"], line["series"]) == (peer, series))


def title_of(results: dict, name: str) -> str:
    return next(peer["title"] for peer in results["peers"] if peer["name"] == name)


def versions(results: dict, peer: str) -> str:
    found = next((line["versions"] for line in results["results"] if line["peer"] == peer and "versions" in line), {})
    return ", ".join(f"{package} {version}" for package, version in found.items()) or "–"


# --- sections --------------------------------------------------------------------------------------------------------


def growth(results: dict, id: str, title: str, lead: str, kind: str) -> dict:
    """Time and memory against n, a line for each peer of a kind, and for bandgp."""
    peers = [peer for peer in results["peers"] if peer["kind"] == kind or peer["name"] == "bandgp"]
    charts = []
    for heading, how, label, field in (
            ("Time to train", "A line ends where a limit was passed, or nothing was measured.", "seconds", "fit_seconds"),
            ("Peak memory", "Of the whole process, its imports included.", "MB", "peak_mb")):
        lines = [(peer, [(line["n"], line[field]) for line in results["results"]
                         if line["peer"] == peer["name"] and line["series"] != "sunspots" and field in line]) for peer in peers]
        charts.append(chart(heading, how, "n, simulated series", label,
                            [marks(peer["title"], peer["mark"], points) for peer, points in lines if points]))
    return section(id, title, lead, charts)


def accuracy(results: dict) -> dict:
    """What a second of training buys. The other forms of bandgp would lie upon its mark."""
    peers = [peer for peer in results["peers"] if peer["name"] not in ("bandgp-dual", "bandgp-band")]

    def label(peer: dict, line: dict, own: float | None) -> str:
        crowded = own is not None and abs(line["nmse"] / own - 1) < 0.01 and peer["name"] != "bandgp"
        return "" if crowded else peer["title"]

    charts = []
    for series in results["series"]:
        lines = [(peer, line_of(results, peer["name"], series["name"])) for peer in peers]
        own = line_of(results, "bandgp", series["name"]).get("nmse")
        charts.append(chart(series["title"], "Lower left is better.", "seconds to train", "NMSE",
                            [marks(*KINDS[peer["kind"]], [(line["fit_seconds"], line["nmse"])], label(peer, line, own))
                             for peer, line in lines if "nmse" in line], y_log=False))
    return section("accuracy", "Accuracy against time", "Each mark is a peer; one within 1 % of bandgp's NMSE has no name.", charts)


def numbers(results: dict, series: dict) -> dict:
    rows, failures = [], {}
    for peer in results["peers"]:
        line = line_of(results, peer["name"], series["name"])
        cells = [number(line.get(name), digits) for name, digits in FIGURES.items()]
        if line["status"] != "done":  # said in the first place that has no number, or in the last where a limit was passed at the very end
            without = (i for i, name in enumerate(FIGURES) if name not in line)
            cells[next(without, len(FIGURES) - 1)] = SIGNS[line["status"]]
            failures.setdefault(f"{SIGNS[line['status']]}, {line['reason']}", []).append(peer["title"])
        rows.append([peer["title"], peer["model"], *cells])
    lead = f"{series['n']} values to train with, {series['held_out']} held out."
    if results["repeats"] > 1:
        lead += f" Times are medians of {results['repeats']} runs, or that of a single one where it takes more than ten seconds."
    return section(series["name"], series["title"][0].upper() + series["title"][1:], lead,
                   tables=[{"caption": series["title"], "headings": HEADINGS, "rows": rows}],
                   notes=[f"{reason[0].upper()}{reason[1:]}: {', '.join(names)}." for reason, names in failures.items()])


def given(results: dict) -> dict:
    truth = ", ".join(f"{name} {value}" for name, value in results["truth"].items())
    limits, machine = results["limits"], results["machine"]
    return section("given", "What each was given", "As far as each can take it.", notes=[
        *results["given"],
        f"Simulated: {truth}. Split by Python's random.Random({results['split_seed']}).",
        f"Limits of a trial: {limits['seconds']:g} s, {limits['gigabytes']:g} GB. Who passes one is not tried on longer series.",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, Python {machine['python']}. Peers take "
        "turns, so that what disturbs the machine disturbs all; ratios to bandgp are more telling than seconds."])


def calls(results: dict) -> dict:
    rows = [[peer["title"], f"{peer['module']}.{peer['function']}", versions(results, peer["name"]), peer["note"]]
            for peer in results["peers"]]
    code = {f"calls/{peer['module']}.py": peer["code"] for peer in results["peers"]} | results["shared"]
    return section(
        "calls", "Versions and exact calls",
        "What was run, as it was run: each trial calls one of these functions with the problem, then predict().",
        tables=[{"caption": "Versions and what is particular to a peer", "prose": True,
                 "headings": ["Peer", "Function", "Versions", "Particular"], "rows": rows}],
        listings=[{"title": f"tools/peers/{name}", "text": text} for name, text in code.items()])


def cards(results: dict) -> list[dict]:
    made, lines = [], results["results"]
    exact = [peer["name"] for peer in results["peers"] if peer["kind"] == "exact"]
    ours = [line for line in lines if line["peer"] == "bandgp" and "fit_seconds" in line]
    if ours:
        made.append(card("bandgp, auto, longest series", f"{number(ours[-1]['fit_seconds'], 3)} s",
                         f"to train, n = {size(ours[-1]['n'])}", f"{ours[-1]['peak_mb']:.0f} MB at its peak."))
    rivals = [line for line in lines if line["peer"] in exact and not line["peer"].startswith("bandgp") and "fit_ratio" in line]
    if rivals:
        best = max(rivals, key=lambda line: (line["n"], -line["fit_ratio"]))
        made.append(card("quickest other exact SE", f"{number(best['fit_ratio'], 3)} ×", f"bandgp's time, n = {size(best['n'])}",
                         f"{title_of(results, best['peer'])}, on the longest series that any of them could train on."))
    quicker = {line["peer"] for line in lines if line.get("fit_ratio", 1) < 1 and not line["peer"].startswith("bandgp")}
    made.append(card("where bandgp is slower", str(len(quicker)), "peers train quicker on some series",
                     ", ".join(title_of(results, name) for name in sorted(quicker)) or "None in this run."))
    reached = [[line["nll"] for line in lines if line["peer"] in exact and line["series"] == series["name"] and "nll" in line]
               for series in results["series"]]
    if any(len(values) > 1 for values in reached):
        made.append(card("exact SE models agree to", number(max(max(values) - min(values) for values in reached if values), 2),
                         "nats of NLL reached", "Same model, same data: where they end differs by this much at most."))
    return made


def document(results: dict) -> dict:
    """The JSON that web/document.js lays out."""
    sections = [
        growth(results, "same", "The same model", "The exact GP with an SE kernel: all must end at the same numbers.", "exact"),
        growth(results, "near", "Approximations of it", "What they leave out differs, and so does what they find.", "near"),
        growth(results, "other", "Other models", "Other kernels, other processes.", "other"),
        accuracy(results), *(numbers(results, series) for series in results["series"]), given(results), calls(results)]
    return {"version": versions(results, "bandgp").split(",")[0].removeprefix("bandgp").strip(" –"),
            "created": results["created"], "command": results["command"], "title": "bandgp and its peers", "remark": "",
            "subtitle": "The same series, split, start and stopping rule for all; one run, one thread, peers in turn.",
            "cards": cards(results), "sections": sections}


# --- the file --------------------------------------------------------------------------------------------------------


def template() -> str:
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        raise RuntimeError("the page needs node and the packages of web/package.json: run ./dev setup")
    with tempfile.TemporaryDirectory(prefix="bandgp-page-") as folder:
        made = Path(folder) / "document.html"
        done = subprocess.run([node, str(ROOT / "web" / "build.mjs"), "--document", str(made)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"web/build.mjs: {done.stderr.strip()}")
        return made.read_text(encoding="utf-8")


def html(results: dict) -> str:
    text = json.dumps(document(results))
    for character in "<>&":  # outside of strings JSON has none of these
        text = text.replace(character, f"\\u{ord(character):04x}")
    return template().replace("{{data}}", f'<script type="application/json" id="document">{text}</script>')
