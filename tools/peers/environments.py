# SPDX-License-Identifier: Apache-2.0
"""A virtual environment for each group of peers that can share one, from pinned requirements."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GIGABYTES = {"base": 0.5, "gpflow": 2.4, "gpytorch": 5.5, "tinygp": 0.6, "gpy": 0.3}  # on the disk, as measured


def requirements(name: str) -> Path:
    return HERE / f"requirements-{name}.txt"


def is_ready(folder: Path, name: str) -> bool:
    stamp = folder / name / ".bandgp-requirements"
    return stamp.is_file() and stamp.read_bytes() == requirements(name).read_bytes()


def make(folder: Path, names: list[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """The interpreter of each environment, and why there is none for the others."""
    missing = [name for name in names if not is_ready(folder, name)]
    if missing:
        size = sum(GIGABYTES[name] for name in missing)
        print(f"== installing {', '.join(missing)} in {folder}: about {size:.1f} GB"
              + (" (--without gpytorch leaves most of it out)" if "gpytorch" in missing else ""), file=sys.stderr)
    pythons, problems = {}, {}
    for name in names:
        problem = None if name not in missing else install(folder, name)
        if problem is None:
            pythons[name] = folder / name / "bin" / "python"
        else:
            problems[name] = problem
            print(f"== {name} could not be installed: {problem}", file=sys.stderr)
    return pythons, problems


def install(folder: Path, name: str) -> str | None:
    """Why it failed, or None."""
    place, log = folder / name, folder / f"{name}.log"
    shutil.rmtree(place, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
           "--retries", "2", "-r", str(requirements(name))]
    with open(log, "w") as output:
        for command in ([sys.executable, "-m", "venv", str(place)], pip):
            if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode:
                lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
                return f"{lines[-1] if lines else command[0]} (all of it in {log})"
    (place / ".bandgp-requirements").write_bytes(requirements(name).read_bytes())
    return None
