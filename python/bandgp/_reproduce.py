# SPDX-License-Identifier: Apache-2.0
"""The experiments of the paper, as the command line runs them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Optional, Union

from . import _core
from ._options import thread_count
from ._progress import ManyFits

Folder = Union[str, "os.PathLike[str]"]
BUNDLED = Path(__file__).with_name("sunspots.csv")  # for "sunspots", where no folder of data is named


def reproduce(experiment: str, out: Folder = "results", *, data: Optional[Folder] = None, quick: bool = False,
              threads: Optional[int] = None, progress: Optional[bool] = None) -> dict[str, Any]:
    """Runs "sunspots" (Figure 2), "eeg" (Figure 3) or "bandwidth" (Figure 4, Table 1) and writes EXPERIMENT.csv, .json and .html
    into the folder `out`; what the JSON holds comes back.

    `data` is the folder that holds sunspots/ and eeg/ (default: BANDGP_DATA; sunspots: else the bundled series). `quick` takes
    fewer points, folds and sizes: seconds instead of minutes. Fits run side by side on `threads`, each on one. Results are kept in
    EXPERIMENT.results.jsonl as they come: after Ctrl-C, or a crash, the same call continues.
    """
    folder = "" if data is None else os.fspath(data)
    if data is not None and not os.path.isdir(folder):
        raise NotADirectoryError(f"data={folder!r} is not a folder")
    options = {"data": folder or None, "quick": quick or None}
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    shown = ManyFits(progress)
    with shown:
        text, raised = _core.reproduce(
            name=experiment, out=os.fspath(out), data=folder or os.environ.get("BANDGP_DATA", ""),
            bundled=str(BUNDLED) if data is None and BUNDLED.exists() else "", quick=bool(quick), threads=thread_count(threads),
            command=f"bandgp.reproduce({experiment!r}, {os.fspath(out)!r}{given})",
            created=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), progress=shown.tell if shown.wanted else None)
    if raised is not None:
        raise raised
    result: dict[str, Any] = json.loads(text)
    return result
