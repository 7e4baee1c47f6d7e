#!/usr/bin/env python3
"""Checks what the documents say: check_docs.py [BINARY_DIR]

Paths    every repository path in `backticks` and every relative link in README.md, CONTRIBUTING.md and docs/**/*.md
         exists; every `./dev COMMAND` is one that ./dev help lists.
Commands every ```sh block right after a line <!-- run --> in README.md and docs/**/*.md runs without error. The blocks
         of one document share a fresh folder in which `data` is the project's; BINARY_DIR is on PATH and ROOT names
         the project. Without BINARY_DIR commands are not run.
C++      the ```cpp block of README.md stands, line by line, in tests/install/main.cpp, which a test builds and runs.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {p.name for p in (ROOT / "src" / "bandgp").glob("*") if p.is_dir()}
TOP = {p.name for p in ROOT.iterdir()} - {"build", ".git"} | {
    "bench", "cmake", "data", "docs", "experiments", "python", "src", "tests", "tools", "web"}

FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1[ \t]*$", re.M | re.S)
RUN = re.compile(r"^<!-- run -->[ \t]*\n+```sh[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"^(?:\./)?[\w.-]+(?:/[\w.-]+)*/?$")
DEV = re.compile(r"(?:^|\s|`)\./dev[ \t]+([a-z]\w*)", re.M)


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def without_fences(text: str) -> str:
    """The same text with fenced blocks blanked, so that line numbers stay."""
    return FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text)


def is_missing(code: str) -> bool:
    """True for a text that looks like a path in this repository and is not there."""
    if not PATH.match(code) or "/" not in code.rstrip("/") or re.search(r"NAME|NNN", code):
        return False
    path = code.removeprefix("./")
    first = path.split("/")[0]
    if first in LAYERS and (ROOT / "src" / "bandgp" / path).exists():
        return False
    if first in TOP or first in LAYERS or (code.startswith("./") and first != "build"):
        return not (ROOT / path).exists()
    return False


def path_problems(document: Path, commands: set):
    text = document.read_text(encoding="utf-8")
    prose = without_fences(text)
    for match in CODE.finditer(prose):
        if is_missing(match.group(1)):
            yield line_of(prose, match.start()), f"{match.group(1)} does not exist"
    for match in LINK.finditer(prose):
        target = match.group(1).split("#")[0]
        if target and not re.match(r"[a-z]+:", target) and not (document.parent / target).exists():
            yield line_of(prose, match.start()), f"link to {target}, which does not exist"
    for match in DEV.finditer(text):
        if match.group(1) not in commands:
            yield line_of(text, match.start(1)), f"./dev {match.group(1)} is not a command"


def cpp_problems(document: Path):
    text = document.read_text(encoding="utf-8")
    program = {line.strip() for line in (ROOT / "tests/install/main.cpp").read_text(encoding="utf-8").splitlines()}
    for match in FENCE.finditer(text):
        if match.group(2) == "cpp":
            for line in match.group(3).splitlines():
                if line.strip() and line.strip() not in program:
                    yield line_of(text, match.start()), f"not in tests/install/main.cpp: {line.strip()}"


def run_problems(document: Path, binaries: Path):
    text = document.read_text(encoding="utf-8")
    environment = dict(os.environ, ROOT=str(ROOT), PATH=f"{binaries}{os.pathsep}{os.environ['PATH']}")
    with tempfile.TemporaryDirectory(prefix="bandgp-docs-") as folder:
        (Path(folder) / "data").symlink_to(ROOT / "data")
        for match in RUN.finditer(text):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", match.group(1)], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)
            if done.returncode:
                yield (line_of(text, match.start(1)),
                       f"commands exit with {done.returncode}\n{done.stdout}{done.stderr}".rstrip())


def main() -> int:
    binaries = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    listing = subprocess.run([str(ROOT / "dev"), "help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^\./dev (\w+)", listing, re.M))
    runnable = sorted(p for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if p.exists())
    failures = blocks = 0
    for document in [*runnable, ROOT / "CONTRIBUTING.md"]:
        problems = [*path_problems(document, commands), *(cpp_problems(document) if document.name == "README.md" else ())]
        if binaries and document in runnable:
            blocks += len(RUN.findall(document.read_text(encoding="utf-8")))
            problems += run_problems(document, binaries)
        for number, text in problems:
            print(f"{document.relative_to(ROOT)}:{number}: {text}", file=sys.stderr)
        failures += len(problems)
    print(f"docs: {len(runnable) + 1} documents, {blocks} command blocks run, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
