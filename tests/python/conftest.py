# SPDX-License-Identifier: Apache-2.0
"""What the tests share. BANDGP_CLI names the command whose numbers ours must equal, bit for bit."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bandgp

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def cli():
    """Runs the command line and reads its JSON."""
    binary = os.environ.get("BANDGP_CLI")
    if not binary:
        pytest.skip("BANDGP_CLI does not name the command")

    def run(*arguments, code=0):
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def sunspots():
    return bandgp.read_table(ROOT / "data" / "sunspots.csv")


@pytest.fixture(scope="session")
def fitted(sunspots):
    return bandgp.GP().fit(sunspots)


@pytest.fixture(scope="session")
def small():
    """300 irregular observations of a smooth curve."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 60, 300))
    return t, np.sin(t / 3) + 0.3 * np.cos(t) + rng.normal(0, 0.2, t.size)
