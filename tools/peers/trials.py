# SPDX-License-Identifier: Apache-2.0
"""One trial in a process of its own, within a limit of time and memory; and a store of those that are done."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from environments import requirements
from peers import HERE, Peer
from series import Series

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1",
         "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "JAX_PLATFORMS": "cpu"}
SHARED = ("given.py", "problem.py", "search.py", "trial.py")  # what all calls use
NOT_INSTALLED = 3  # trial.py's exit code
ERROR = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Exhausted)\b")


@dataclass(frozen=True)
class Limits:
    seconds: float
    gigabytes: float


def run(peer: Peer, series: Series, python: Path, package: Path, limits: Limits) -> dict:
    """status: done, time, memory, missing (not installed) or failed; and a reason."""
    with tempfile.TemporaryDirectory(prefix="bandgp-peers-") as folder:
        out, errors = Path(folder) / "out.json", Path(folder) / "errors"
        command = [str(python), str(HERE / "trial.py"), peer.module, peer.function, str(series.train), str(series.test), str(out)]
        environment = {**os.environ, **ONE_THREAD, **QUIET, "PYTHONPATH": str(package)}
        began = time.monotonic()
        with open(errors, "w") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)
        try:
            exceeded = watch(child, began, limits)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        seconds = time.monotonic() - began
        result = {"process_seconds": seconds, **(json.loads(out.read_text()) if out.exists() else {})}
        if not exceeded:  # a trial that ends soon may pass the limit between two looks at it, and says itself what it held
            exceeded = beyond_memory(result.get("peak_mb", 0) / 1024, limits)
        if not exceeded and child.returncode == 0:
            return {"status": "done", "reason": "", **result}
        outcome = exceeded or failure(child.returncode, errors.read_text(errors="replace"))
        if result.get("next"):  # what came before it stands
            outcome["reason"] += f" while {result['next']}"
        return {**result, **outcome}


def watch(child: subprocess.Popen, began: float, limits: Limits) -> dict | None:
    """Which limit was passed, or None once the child has ended."""
    while True:
        try:
            child.wait(timeout=min(0.1, limits.seconds))
            return None
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() - began > limits.seconds:
            return {"status": "time", "reason": f"more than {limits.seconds:g} s"}
        if exceeded := beyond_memory(resident_gigabytes(child.pid), limits):
            return exceeded


def beyond_memory(gigabytes: float, limits: Limits) -> dict | None:
    return {"status": "memory", "reason": f"more than {limits.gigabytes:g} GB"} if gigabytes > limits.gigabytes else None


def resident_gigabytes(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) / 2**20 for line in status if line.startswith("VmHWM:")), 0.0)
    except OSError:
        return 0.0


def failure(code: int, output: str) -> dict:
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.match(line)]  # a message may go on for lines
    reason = (errors or lines or [f"exit code {code}"])[-1].strip()[:300]
    if code == NOT_INSTALLED:
        return {"status": "missing", "reason": reason}
    if code == -signal.SIGKILL:
        return {"status": "memory", "reason": "killed by the system, which had no memory left"}
    if any(word in reason for word in ("MemoryError", "bad_alloc", "ResourceExhausted", "RESOURCE_EXHAUSTED", "can't allocate")):
        return {"status": "memory", "reason": reason}
    return {"status": "failed", "reason": reason if code > 0 else f"signal {-code}: {reason}"}


class Store:
    """A line of JSON for each trial as it ends. A last line that was not written to its end is cut off."""

    def __init__(self, path: Path) -> None:
        self.path, self.known = path, {}
        whole = b""
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
            try:
                record = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                record = None
            if record is None:
                break
            self.known[record["key"]] = record
            whole += line
        path.write_bytes(whole)

    def find(self, key: str, limits: Limits) -> dict | None:
        """A trial that passed a limit is run again once there is more of it; what was missing may be there now."""
        record = self.known.get(key)
        if record is None or record["status"] == "missing":
            return None
        if record["status"] in ("time", "memory") and (record["limits"]["seconds"] < limits.seconds
                                                       or record["limits"]["gigabytes"] < limits.gigabytes):
            return None
        return record

    def add(self, key: str, limits: Limits, record: dict) -> dict:
        record = {"key": key, "limits": vars(limits), **record}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.known[key] = record
        return record


def key_of(peer: Peer, series: Series, repeat: int, package: Path) -> str:
    """All that a result depends on: the calls, the data, the versions."""
    digest = hashlib.sha256()
    files = [HERE / "calls" / f"{peer.module}.py", *(HERE / name for name in SHARED),
             series.train, series.test, requirements(peer.environment)]
    if peer.module == "bandgp":
        files += sorted((package / "bandgp").glob("_core*.so"))
    for file in files:
        digest.update(file.read_bytes())
    return f"{peer.name} {series.name} {repeat} {digest.hexdigest()[:16]}"
