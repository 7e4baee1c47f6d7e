# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside this file share: a fresh folder for each case, the binary in it, and the loop over cases."""

import json
import math
import os
import pty
import random
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SUNSPOTS = ROOT / "data" / "sunspots.csv"


class Skip(Exception):
    pass


def require(holds, what):
    if not holds:
        raise AssertionError(what)


def close(a, b, relative):
    require(a is not None and abs(a - b) <= relative * abs(b), f"{a!r} is not {b!r} to {relative}")


PROGRESS = re.compile(r"bandgp: (\d+ of \d+ (fits|rows|draws|parts), \d+ s|"
                      r"((computing the report|leaving out each) of \d+ points|predicting \d+ rows?.*|fitting \d+ methods? to \d+ folds) takes about)")
BEYOND = re.compile(r"bandgp: \d+ of \d+ rows? lies? (after|before) the data, which (ends?|begins?) at ")


def is_progress(line):
    """Whether the line is one of those that tell how far long work is: what counts as long depends on the machine."""
    return line.endswith("; Ctrl-C ends it with what it has\n") or PROGRESS.match(line) is not None


class Folder:
    def __init__(self, binary, path):
        self.binary, self.path = binary, Path(path)

    def run(self, *arguments, code=0, stdin=None):
        done = subprocess.run([self.binary, *map(str, arguments)], cwd=self.path, capture_output=True, text=True,
                              input=stdin if stdin is not None else "", timeout=300)
        shown = f"bandgp {' '.join(map(str, arguments))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        done.told = done.stderr
        done.stderr = "".join(line for line in done.stderr.splitlines(keepends=True)
                              if not is_progress(line) and not (code == 0 and BEYOND.match(line)))
        require(code is None or done.returncode == code, f"exit code {done.returncode}, not {code}: {shown}")
        if code == 0:
            require(done.stderr == "", f"stderr is not empty: {shown}")
        if code == 2:  # one line, and nothing half-written
            require(done.stdout == "", f"stdout is not empty: {shown}")
            require(done.stderr.startswith("bandgp: ") and done.stderr.count("\n") == 1, f"not one line: {shown}")
            require(len(done.stderr) < 400, f"a long line: {shown}")
        return done

    def json(self, *arguments, code=0, stdin=None):
        return json.loads(self.run(*arguments, "--json", code=code, stdin=stdin).stdout)

    def refused(self, *arguments, says, stdin=None):
        done = self.run(*arguments, code=2, stdin=stdin)
        for part in [says] if isinstance(says, str) else says:
            require(part in done.stderr, f"{part!r} is not in {done.stderr!r}")
        return done.stderr

    def write(self, name, text):
        (self.path / name).write_text(text)
        return name

    def series(self, name="data.csv", n=60, gap=1.0, error=None):
        """A smooth curve with noise."""
        draw = random.Random(7)
        lines = ["t,y" if error is None else "t,y,e"]
        for i in range(n):
            y = math.sin(0.4 * i * gap) + 0.3 * draw.gauss(0, 1)
            lines.append(f"{i * gap!r},{y!r}" + ("" if error is None else f",{error}"))
        return self.write(name, "\n".join(lines) + "\n")

    def files(self):
        return sorted(p.name for p in self.path.iterdir())

    def terminal(self, *arguments, while_running=None, environment=None, timeout=120):
        """Runs in a terminal: (exit code, everything it showed). while_running(child, text so far) is asked again and again."""
        parent, child_end = pty.openpty()
        child = subprocess.Popen([self.binary, *map(str, arguments)], cwd=self.path, stdin=subprocess.DEVNULL,
                                 stdout=child_end, stderr=child_end, start_new_session=True,
                                 env={**os.environ, "TERM": "xterm", **(environment or {})})
        os.close(child_end)
        shown, end = b"", time.monotonic() + timeout
        try:
            while time.monotonic() < end:
                if select.select([parent], [], [], 0.05)[0]:
                    try:
                        piece = os.read(parent, 65536)
                    except OSError:  # the other end is closed
                        break
                    if not piece:
                        break
                    shown += piece
                if while_running:
                    while_running(child, shown.decode(errors="replace"))
            return child.wait(timeout=10), shown.decode(errors="replace")
        finally:
            child.kill()
            os.close(parent)


def main(cases):
    """Runs every function test_… of a script: SCRIPT BINARY [NAME], only those whose name contains NAME."""
    binary = str(Path(sys.argv[1]).resolve())
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed = failed = 0
    for name, case in list(cases.items()):
        if not name.startswith("test_") or wanted not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="bandgp-cli-") as folder:
            try:
                case(Folder(binary, folder))
                passed += 1
            except Skip as skip:
                print(f"{name}: skipped: {skip}")
            except Exception as error:  # one case must not end the others
                failed += 1
                print(f"{name}: FAILED: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
