#!/usr/bin/env python3
"""Fails if a file in src/bandgp includes a folder its own folder may not know (CONTRIBUTING.md, "Layout")."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"

GP = {"base", "simd", "series", "kernel", "band", "bandwidth", "basis", "markov", "front"}
FIT = GP | {"gp", "methods", "optimize", "period"}
IO = {"base", "series", "kernel", "bandwidth", "gp", "fit"}
MAY_INCLUDE = {
    "base": set(),
    "simd": {"base"},
    "series": {"base"},
    "kernel": {"base", "simd"},
    "band": {"base", "simd"},
    "bandwidth": {"base", "simd", "series", "kernel", "band"},
    "basis": {"base", "simd", "kernel", "bandwidth"},
    "markov": {"base", "simd"},
    "front": {"base", "simd", "markov"},
    "gp": GP,
    "methods": GP | {"gp"},
    "optimize": {"base"},
    "period": {"base", "series"},
    "fit": FIT,
    "io": IO,
    "report": IO | {"io"},
    "experiments": FIT | {"fit", "io", "report"},
    "cli": FIT | {"fit", "io", "report", "experiments"},
}
FREE = {"bandgp.hpp", "version.hpp", "version.cpp"}  # at the top of src/bandgp; may include everything

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def problems_of(path: Path):
    parts = path.relative_to(SOURCE / "bandgp").parts
    folder = parts[0] if len(parts) > 1 else None
    if folder is None:
        if parts[0] not in FREE:
            yield 0, f"only {', '.join(sorted(FREE))} belong at the top of src/bandgp"
        return
    if folder not in MAY_INCLUDE:
        yield 0, f"folder {folder} is not in the table of tools/check_layers.py"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, name = match.groups()
        target = name.split("/")
        if target[0] != "bandgp":
            if quote == '"' and (len(target) == 1 or target[0] in {".", "..", *MAY_INCLUDE}):
                yield number, f'write "{name}" as "bandgp/<folder>/…"'
        elif len(target) == 2:
            if name != "bandgp/version.hpp" and folder != "cli":
                yield number, f"{folder} may not include {name}"
        elif target[1] != folder and target[1] not in MAY_INCLUDE[folder]:
            yield number, f"{folder} may not include {target[1]} ({name})"


def main() -> int:
    files = sorted(p for p in SOURCE.rglob("*") if p.suffix in {".hpp", ".cpp", ".h", ".inc"})
    failures = 0
    for path in files:
        for number, text in problems_of(path):
            place = f"{path.relative_to(ROOT)}:{number}" if number else str(path.relative_to(ROOT))
            print(f"{place}: {text}", file=sys.stderr)
            failures += 1
    print(f"layers: {len(files)} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
