# SPDX-License-Identifier: Apache-2.0
"""What long work shows while it runs: a line of its own, or tqdm's where that is installed."""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from types import TracebackType
from typing import Any, Optional

LONG_SECONDS = 1.0  # nothing is shown of fits that are quicker


class Progress:
    """`wanted` None: on a terminal, and in a notebook that has tqdm."""

    def __init__(self, wanted: Optional[bool]) -> None:
        self.wanted = _shown_by_default() if wanted is None else bool(wanted)
        self.began = time.monotonic()
        self.last = 0.0
        self.bar: Any = None
        self.width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 place: Optional[TracebackType]) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()

    def __call__(self, evaluation: int, stage: int, n: int, nll: float, names: list[str], parameters: list[float],
                 bandwidth: int) -> None:
        now = time.monotonic()
        if now - self.began < LONG_SECONDS or now - self.last < 0.1:
            return
        self.last = now
        shown = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, parameters))
        self.show(evaluation, f"evaluation {evaluation}, ", f"{n} points, NLL {nll:.8g}, {shown}")

    def show(self, count: int, counted: str, text: str, unit: str = " evaluations", total: Optional[int] = None) -> None:
        if self.bar is None and not self.width:
            self.bar = _tqdm(unit, total)
        if self.bar is not None:
            self.bar.set_postfix_str(text)
            self.bar.update(count - self.bar.n)
            return
        line = f"bandgp: {counted}{text}"[:150]
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)


class ManyFits(Progress):
    """The same for many fits, some at a time."""

    def tell(self, done: int, of: int, label: str) -> None:
        self.show(done, f"{done} of {of} fits, ", label, " fits", of)


def _shown_by_default() -> bool:
    if getattr(sys.stderr, "isatty", lambda: False)():
        return True
    return _in_notebook() and importlib.util.find_spec("tqdm") is not None  # a line of our own would fill the cell


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; one that does has imported IPython itself."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _tqdm(unit: str, total: Optional[int]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without widgets gets a bar of text, and needs no advice for that
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc="bandgp", unit=unit, total=total, leave=False)
