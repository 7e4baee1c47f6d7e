# SPDX-License-Identifier: Apache-2.0
"""The series that all are given: simulated ones with known parameters, and the sunspots; each split once, in files."""

from __future__ import annotations

import csv
import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRUTH = {"gap": 1, "variance": 1, "lengthscale": 10, "noise": 0.1, "seed": 7}
HELD_OUT = 1000  # at most: joint densities need their covariance
SPLIT_SEED = 1


@dataclass(frozen=True)
class Series:
    name: str
    title: str
    n: int  # to train with
    held_out: int
    train: Path
    test: Path


def split(rows: list[list[str]], held: int, folder: Path, name: str, title: str) -> Series:
    hidden = set(random.Random(SPLIT_SEED).sample(range(len(rows)), held))
    files = []
    for ending, wanted in (("train", False), ("test", True)):
        file = folder / f"{name}.{ending}.csv"
        with open(file, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["time", "value"])
            writer.writerows(row for i, row in enumerate(rows) if (i in hidden) == wanted)
        files.append(file)
    return Series(name, title, len(rows) - held, held, *files)


def simulated(n: int, bandgp: Path, folder: Path) -> Series:
    """n values to train with and a fourth as many beside them, at most HELD_OUT."""
    held = min(HELD_OUT, n // 4)
    flags = [text for name, value in TRUTH.items() for text in (f"--{name}", str(value))]
    made = subprocess.run([str(bandgp), "simulate", "--n", str(n + held), *flags, "--threads", "1"],
                          capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(f"bandgp simulate: {made.stderr.strip()}")
    rows = list(csv.reader(made.stdout.splitlines()))[1:]
    return split(rows, held, folder, f"simulated-{n}", f"simulated, n = {n}")


def sunspots(folder: Path) -> Series:
    """A fifth held out. The series of the paper where BANDGP_DATA has it, else the bundled one."""
    data = os.environ.get("BANDGP_DATA")
    file, columns, what = ROOT / "data" / "sunspots.csv", ("time", "sunspots"), "1749 to 1983, bundled"
    if data:
        longer = Path(data) / "sunspots" / "sunspots_3315_1749-01_2025-03.csv"
        if longer.is_file():
            file, columns, what = longer, ("decyear", "SN"), "1749 to 2025"
    with open(file, newline="") as text:
        rows = [[row[name] for name in columns] for row in csv.DictReader(text)]
    return split(rows, len(rows) // 5, folder, "sunspots", f"monthly sunspot numbers, {what}")
