#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's comparison table, from figures kept in docs/peers.json.

table.py                 prints the table that docs/peers.json gives
table.py --write         puts it into README.md
table.py --keep FILE     first makes docs/peers.json from the peers.json of a run
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from page import line_of, number, size

ROOT = Path(__file__).resolve().parents[2]
KEPT, README = ROOT / "docs" / "peers.json", ROOT / "README.md"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"
SIGNS = {"time": "time", "memory": "memory", "left out": "–", "missing": "not installed", "failed": "fails"}


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def kept(results: dict) -> dict:
    """What the table and docs/peers.md need, to the digits that mean something."""
    fields = {"fit_seconds": 3, "fit_ratio": 3, "predict_seconds": 3, "peak_mb": 3, "nmse": 5, "nlpd_joint": 6, "nll": 9}
    lines = []
    for line in results["results"]:
        short = {name: line[name] for name in ("peer", "series", "n", "status", "reason")}
        lines.append(short | {name: rounded(line[name], digits) for name, digits in fields.items() if name in line})
    versions = {package: number for line in results["results"] for package, number in line.get("versions", {}).items()}
    peers = [{name: peer[name] for name in ("name", "title", "model", "kind")} for peer in results["peers"]]
    return {**{name: results[name] for name in ("created", "machine", "limits", "repeats", "truth", "series")},
            "versions": dict(sorted(versions.items())), "peers": peers, "results": lines}


def ratio(line: dict) -> str:
    if "fit_ratio" not in line:
        return SIGNS[line["status"]]
    value = line["fit_ratio"]
    return (f"{value:,.0f}" if value >= 100 else number(value, 2)) + ("" if line["status"] == "done" else " ¹")


def table(figures: dict) -> str:
    """Scores on the sunspots, and times to train over those of bandgp in the same run."""
    series = sorted(figures["series"], key=lambda s: (s["name"] != "sunspots", s["n"]))
    heads = ["sunspots" if s["name"] == "sunspots" else f"n = {size(s['n'])}" for s in series]
    rows = [["", "model", "NMSE", "joint NLPD", *heads], ["---"] * (4 + len(series))]
    for peer in figures["peers"]:
        lines = [line_of(figures, peer["name"], s["name"]) for s in series]
        first = lines[0] if series[0]["name"] == "sunspots" else {}
        rows.append([peer["title"], peer["model"], number(first.get("nmse"), 3), number(first.get("nlpd_joint"), 5),
                     *map(ratio, lines)])
    text = "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    return text + ("\n¹ trained; it passed a limit or failed afterwards, while predicting.\n" if "¹" in text else "")


def with_table(text: str, figures: dict) -> str:
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table(figures)}{END}{rest.split(END)[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.keep:
        figures = kept(json.loads(options.keep.read_text(encoding="utf-8")))
        KEPT.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    figures = json.loads(KEPT.read_text(encoding="utf-8"))
    if options.write:
        README.write_text(with_table(README.read_text(encoding="utf-8"), figures), encoding="utf-8")
    else:
        sys.stdout.write(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
