# SPDX-License-Identifier: Apache-2.0
"""The results as a page in the look of the others: its template is web/document.html, bundled by web/build.mjs."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {"fit_seconds": 3, "fit_ratio": 3, "predict_seconds": 3, "nmse": 4, "nlpd_joint": 6, "nll": 9, "peak_mb": 3}  # digits
KINDS = {"exact": ("the exact SE model", 0), "near": ("approximations of it", 1), "other": ("other models", 2)}  # name, mark
SIGNS = {"time": "too slow", "memory": "too large", "missing": "not installed", "left out": "not tried", "failed": "failed"}


def number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}".replace("-", "−")


def size(n: int) -> str:
    power = len(str(n)) - 1
    return "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[power] if n == 10**power else str(n)


def line_of(document: dict, peer: str, series: str) -> dict:
    return next(line for line in document["results"] if (line["peer"], line["series"]) == (peer, series))


def titles(document: dict) -> dict[str, str]:
    return {peer["name"]: peer["title"] for peer in document["peers"]}


def chart(document: dict, peers: list[dict], title: str, how: str, label: str, field: str) -> dict:
    """One quantity against n, a line for each peer."""
    simulated = {series["name"] for series in document["series"] if series["name"] != "sunspots"}
    lines = []
    for peer in peers:
        points = [{"x": line["n"], "y": line[field], "label": "", "hollow": False} for line in document["results"]
                  if line["peer"] == peer["name"] and line["series"] in simulated and line.get(field)]
        if points:
            lines.append({"name": peer["title"], "mark": peer["mark"], "line": len(points) > 1, "points": points})
    return {"title": title, "how": how, "says": "", "x": {"label": "n, simulated series", "log": True, "most": None},
            "y": {"label": label, "log": True, "most": None}, "series": lines, "rules": []}


def group(document: dict, id: str, title: str, lead: str, peers: list[dict]) -> dict:
    charts = [chart(document, peers, "Time to train", "Lower is better; a line that ends could not go on within the limits.",
                    "seconds", "fit_seconds"),
              chart(document, peers, "Peak memory", "Of the whole process, its imports included.", "MB", "peak_mb")]
    return {"id": id, "title": title, "lead": lead, "charts": charts, "legend": [], "tables": [], "notes": []}


def accuracy(document: dict) -> list[dict]:
    """What a second of training buys, on each series of moderate size."""
    charts = []
    for series in document["series"]:
        if series["n"] > 20_000 and len(charts) > 1:
            continue
        lines = [{"name": name, "mark": mark, "line": False,
                  "points": [{"x": line["fit_seconds"], "y": line["nmse"], "label": peer["title"], "hollow": False}]}
                 for peer in document["peers"] if "nmse" in (line := line_of(document, peer["name"], series["name"]))
                 and peer["name"] not in ("bandgp-dual", "bandgp-band") for name, mark in [KINDS[peer["kind"]]]]
        charts.append({"title": series["title"], "how": "Lower left is better.", "says": "",
                       "x": {"label": "seconds to train", "log": True, "most": None}, "y": {"label": "NMSE", "log": False, "most": None},
                       "series": lines, "rules": []})
    return charts


def table(document: dict, series: dict) -> dict:
    rows = []
    for peer in document["peers"]:
        line = line_of(document, peer["name"], series["name"])
        cells = [number(line.get(name), digits) for name, digits in FIGURES.items()]
        if line["status"] != "done":  # in the first place that has no number
            cells[next(i for i, name in enumerate(FIGURES) if name not in line)] = SIGNS[line["status"]]
        rows.append([peer["title"], peer["model"], *cells])
    return {"caption": series["title"], "rows": rows,
            "headings": ["Peer", "Model", "Train [s]", "÷ bandgp", "Predict [s]", "NMSE", "NLPD, joint", "NLL", "Peak [MB]"]}


def numbers(document: dict, series: dict) -> dict:
    failures = [f"{titles(document)[line['peer']]}, {SIGNS[line['status']]}: {line['reason']}." for line in document["results"]
                if line["series"] == series["name"] and line["status"] != "done"]
    title = series["title"][0].upper() + series["title"][1:]
    return {"id": series["name"], "title": title, "charts": [], "legend": [], "notes": failures, "tables": [table(document, series)],
            "lead": f"{series['n']} values to train with, {series['held_out']} held out."
                    + (f" Times are medians of {document['repeats']} runs, or of one that takes more than a minute." * (document["repeats"] > 1))}


def versions(document: dict, peer: str) -> str:
    found = next((line["versions"] for line in document["results"] if line["peer"] == peer and "versions" in line), {})
    return ", ".join(f"{name} {number}" for name, number in found.items()) or "–"


def calls(document: dict) -> dict:
    rows = [[peer["title"], f"{peer['module']}.{peer['function']}", versions(document, peer["name"]), peer["note"]] for peer in document["peers"]]
    code = {peer["module"]: peer["code"] for peer in document["peers"]}
    return {"id": "calls", "title": "Versions and exact calls", "charts": [], "legend": [], "notes": [],
            "lead": "What was run, as it was run: each trial calls one of these functions with the problem, then predict().",
            "tables": [{"caption": "Versions and what is particular to a peer", "headings": ["Peer", "Function", "Versions", "Particular"],
                        "rows": rows, "prose": True}],
            "listings": [{"title": f"tools/peers/calls/{module}.py", "text": text} for module, text in code.items()]}


def cards(document: dict) -> list[dict]:
    ours = [line for line in document["results"] if line["peer"] == "bandgp" and line["status"] == "done"]
    exact = [peer for peer in document["peers"] if peer["kind"] == "exact"]
    outside = {peer["name"]: peer["title"] for peer in exact if not peer["name"].startswith("bandgp")}
    made = []
    if ours:
        most = ours[-1]
        made.append({"label": "bandgp, auto, longest series", "figure": f"{number(most['fit_seconds'], 3)} s", "unit": f"to train, n = {size(most['n'])}",
                     "text": f"{most['peak_mb']:.0f} MB at its peak."})
    rivals = [line for line in document["results"] if line["peer"] in outside and line.get("fit_ratio")]
    if rivals:
        longest = max(line["n"] for line in rivals)
        best = min((line for line in rivals if line["n"] == longest), key=lambda line: line["fit_ratio"])
        made.append({"label": "quickest other exact SE", "figure": f"{number(best['fit_ratio'], 3)} ×", "unit": f"the time, n = {longest}",
                     "text": f"{outside[best['peer']]}: the longest series that any of them could train on."})
    faster = sorted({line["peer"] for line in document["results"] if line.get("fit_ratio", 1) < 1 and not line["peer"].startswith("bandgp")})
    made.append({"label": "where bandgp is slower", "figure": str(len(faster)), "unit": "peers quicker on some series",
                 "text": ", ".join(titles(document)[name] for name in faster) or "None in this run."})
    gaps = []
    for series in document["series"]:
        reached = [line["nll"] for peer in exact if "nll" in (line := line_of(document, peer["name"], series["name"]))]
        if len(reached) > 1:
            gaps.append(max(reached) - min(reached))
    if gaps:
        made.append({"label": "exact SE models agree to", "figure": number(max(gaps), 2), "unit": "nats of NLL reached",
                     "text": "Same model, same data: where they end differs by this much at most."})
    return made


def document_of(results: dict) -> dict:
    """The JSON that web/document.js lays out."""
    of_kind = lambda kind: [peer for peer in results["peers"] if peer["kind"] == kind or peer["name"] == "bandgp"]  # noqa: E731
    truth = ", ".join(f"{name} {value}" for name, value in results["truth"].items())
    limits, machine = results["limits"], results["machine"]
    given = {"id": "given", "title": "What each was given", "charts": [], "legend": [], "tables": [], "notes": [*results["given"],
             f"Simulated: {truth}. Split by Python's random.Random({results['split_seed']}).",
             f"Limits of a trial: {limits['seconds']:g} s, {limits['gigabytes']:g} GB. A peer that passes one is not tried on longer series.",
             f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, Python {machine['python']}. Peers take turns, so that "
             "what disturbs the machine disturbs all; ratios to bandgp are more telling than seconds."],
             "lead": "As far as each can take it."}
    sections = [
        group(results, "same", "The same model", "The exact GP with an SE kernel: whoever trains it must end at the same numbers.", of_kind("exact")),
        group(results, "near", "Approximations of it", "What they leave out differs, and so does what they find; bandgp, auto, for comparison.",
              of_kind("near")),
        group(results, "other", "Other models", "Other kernels, other processes; bandgp, auto, for comparison.", of_kind("other")),
        {"id": "accuracy", "title": "Accuracy against time", "lead": "Each mark is a peer.", "charts": accuracy(results), "legend": [], "tables": [],
         "notes": []},
        *(numbers(results, series) for series in results["series"]), given, calls(results)]
    return {"version": versions(results, "bandgp").split(",")[0].removeprefix("bandgp").strip(" –"), "created": results["created"],
            "command": results["command"], "title": "bandgp and its peers", "remark": "", "cards": cards(results), "sections": sections,
            "subtitle": "The same series, split, start and stopping rule for all; one run, one thread, peers in turn."}


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
    text = json.dumps(document_of(results))
    for character in "<>&":  # outside of strings JSON has none of these
        text = text.replace(character, f"\\u{ord(character):04x}")
    return template().replace("{{data}}", f'<script type="application/json" id="document">{text}</script>')
