#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bandgp and its peers on the same series: ./dev peers [OPTIONS]

Writes peers.json, peers.csv and peers.html. Trials that are done are kept in peers.results.jsonl and not run again.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import platform
import shlex
import signal
import statistics
import sys
import time
from pathlib import Path

import environments
import page
from given import START, STOPPING, WORDS
from peers import ENVIRONMENTS, HERE, REFERENCE, Peer, chosen
from series import ROOT, SPLIT_SEED, TRUTH, Series, simulated, sunspots
from trials import SHARED, Limits, Store, key_of, run

LONG = 10.0  # seconds of a process: what takes longer is not repeated, a short time is what noise spoils
MEDIANS = ("fit_seconds", "predict_seconds", "peak_mb", "import_mb")
SCORES = ("nmse", "nlpd_joint", "nlpd_marginal", "nll", "evaluations")
COLUMNS = ("series", "n", "held_out", "peer", "model", "status", "reason", "repeats", "fit_ratio", *MEDIANS, *SCORES)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    sizes = lambda text: sorted(int(float(size)) for size in names(text))  # noqa: E731
    parser = argparse.ArgumentParser(prog="./dev peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", type=names, default=[], metavar="NAME,…", help="leave out peers, or all of a package")
    parser.add_argument("--only", type=names, default=[], metavar="NAME,…", help="these alone, beside bandgp")
    parser.add_argument("--sizes", type=sizes, metavar="N,…", help="values to train with (default: 1000,10000,100000,1000000)")
    parser.add_argument("--quick", action="store_true", help="1000 values and the sunspots, each once, 100 s at most")
    parser.add_argument("--no-sunspots", action="store_true", help="simulated series only")
    parser.add_argument("--repeats", type=int, metavar="N", help=f"of each trial that takes less than {LONG:g} s (default: 3)")
    parser.add_argument("--seconds", type=float, metavar="S", help="limit of a trial (default: 600)")
    parser.add_argument("--gigabytes", type=float, default=16.0, metavar="G", help="limit of a trial (default: 16)")
    parser.add_argument("--stored", action="store_true", help="run nothing: the files from what is done so far")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "peers" / "results", metavar="DIR")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers", metavar="DIR", help="where they are made")
    parser.add_argument("--python", type=Path, metavar="FILE", help="this interpreter for all, with the packages it has")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", metavar="DIR", help="of bandgp itself")
    options = parser.parse_args(argv)
    options.sizes = options.sizes or ([1000] if options.quick else [1000, 10_000, 100_000, 1_000_000])
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.seconds = options.seconds or (100.0 if options.quick else 600.0)
    options.build, options.output = options.build.resolve(), options.output.resolve()
    if min(options.sizes) < 20:
        parser.error("--sizes: 20 values at least")
    if not (options.build / "bandgp").exists():
        parser.error(f"there is no {options.build / 'bandgp'}: ./dev build first")
    try:
        options.peers = chosen(options.without, options.only)
    except ValueError as error:
        parser.error(str(error))
    return options


class Progress:
    """A line on a terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def __call__(self, done: int, of: int, text: str) -> None:
        if self.shown:
            sys.stderr.write(f"\r\033[Kpeers: {done} of at most {of}, {text}")
            sys.stderr.flush()

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")


def measure(options: argparse.Namespace, all_series: list[Series], pythons: dict, problems: dict) -> dict:
    """Peers in turn on each series, the whole round repeated: what disturbs the machine disturbs them all."""
    limits, package, progress = Limits(options.seconds, options.gigabytes), options.build / "python", Progress()
    store = Store(options.output / "peers.results.jsonl")
    records: dict[tuple[str, str], list[dict]] = {}
    gone: dict[str, str] = {}  # peers that passed a limit on a shorter series
    done, of = 0, len(all_series) * len(options.peers) * options.repeats
    for series in all_series:
        for repeat in range(options.repeats):
            for peer in options.peers:
                done += 1
                found = records.setdefault((peer.name, series.name), [])
                if found and (found[0]["status"] != "done" or found[0]["process_seconds"] > LONG):
                    continue
                progress(done, of, f"{peer.title}, {series.title}")
                if peer.environment in problems:
                    found.append({"status": "missing", "reason": problems[peer.environment]})
                elif peer.name in gone:
                    found.append({"status": "left out", "reason": gone[peer.name]})
                else:
                    key = key_of(peer, series, repeat, package)
                    record = store.find(key, limits)
                    if record is None and options.stored:
                        if found:
                            continue
                        record = {"status": "left out", "reason": "not measured"}
                    found.append(record or store.add(key, limits, run(peer, series, pythons[peer.environment], package, limits)))
                    if found[-1]["status"] in ("time", "memory"):
                        gone[peer.name] = f"{found[-1]['reason']} at n = {series.n}"
    progress.end()
    return records


def summary(peer: Peer, series: Series, records: list[dict]) -> dict:
    """Medians of times and memory over the repeats; scores do not change with them. Of a failure, what it had reached."""
    first = records[0]
    same = [record for record in records if record["status"] == first["status"]]
    line = {"series": series.name, "n": series.n, "held_out": series.held_out, "peer": peer.name, "model": peer.model,
            "status": first["status"], "reason": first.get("reason", ""),
            "repeats": sum(record["status"] == "done" for record in records)}
    line |= {name: statistics.median(record[name] for record in same) for name in MEDIANS if name in first}
    return line | {name: first[name] for name in (*SCORES, "parameters", "versions") if name in first}


def ratio(records: list[dict], own: list[dict]) -> dict:
    """Training time over bandgp's in the same run. Medians: one short trial is easily doubled by a neighbour."""
    mine, theirs = ([record["fit_seconds"] for record in some if "fit_seconds" in record] for some in (records, own))
    return {"fit_ratio": statistics.median(mine) / statistics.median(theirs)} if mine and theirs else {}


def machine() -> dict:
    processor = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), processor)
    return {"processor": processor, "cores": os.cpu_count(), "python": platform.python_version(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)}


def as_csv(results: list[dict]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(results)
    return text.getvalue()


def write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def main(argv: list[str] | None = None) -> int:
    options = arguments(argv)
    signal.signal(signal.SIGTERM, stop)  # as Ctrl-C: the trial under way ends too
    wanted = [name for name in ENVIRONMENTS if any(peer.environment == name for peer in options.peers)]
    if options.python or options.stored:
        pythons, problems = dict.fromkeys(wanted, options.python), {}
    else:
        pythons, problems = environments.make(options.environments.resolve(), wanted)
    folder = options.output / "series"
    folder.mkdir(parents=True, exist_ok=True)
    all_series = [simulated(n, options.build / "bandgp", folder) for n in options.sizes]
    if not options.no_sunspots:
        all_series.append(sunspots(folder))
    all_series.sort(key=lambda series: series.n)
    try:
        records = measure(options, all_series, pythons, problems)
    except KeyboardInterrupt:
        print(f"\npeers: interrupted; what is done is kept in {options.output}, the same command continues", file=sys.stderr)
        return 1
    results = [summary(peer, series, records[peer.name, series.name])
               | ratio(records[peer.name, series.name], records[REFERENCE, series.name])
               for series in all_series for peer in options.peers]
    command = shlex.join(["./dev", "peers", *(sys.argv[1:] if argv is None else argv)]).replace(f"{ROOT}/", "")
    document = {
        "created": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "command": command, "machine": machine(),
        "limits": {"seconds": options.seconds, "gigabytes": options.gigabytes}, "repeats": options.repeats,
        "given": WORDS, "start": START, "stopping": STOPPING, "truth": TRUTH, "split_seed": SPLIT_SEED,
        "series": [{"name": s.name, "title": s.title, "n": s.n, "held_out": s.held_out} for s in all_series],
        "peers": [{"name": p.name, "title": p.title, "model": p.model, "kind": p.kind, "note": p.note, "mark": p.mark,
                   "module": p.module, "function": p.function, "code": p.code} for p in options.peers],
        "shared": {name: (HERE / name).read_text(encoding="utf-8") for name in SHARED},
        "results": results}
    write(options.output / "peers.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    write(options.output / "peers.csv", as_csv(results))
    write(options.output / "peers.html", page.html(document))
    print(f"{options.output / 'peers.html'}, peers.json, peers.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
