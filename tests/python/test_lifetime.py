# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, signals, pickles, copies, and memory that outlives its maker."""

import copy
import gc
import importlib.util
import io
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

import bandgp

GRID = np.linspace(-5, 70, 97)


def test_results_outlive_the_model(small):
    gp = bandgp.GP().fit(*small)
    mean, std = gp.predict(GRID, return_std=True)
    curve, = gp.curves(1)
    kept, drawn = mean.copy(), curve(GRID).copy()
    t = small[0].copy()
    gp.fit(t, small[1])
    t[:] = np.nan  # the data were taken, not borrowed
    assert np.array_equal(gp.predict(GRID), kept)
    del gp
    gc.collect()
    assert np.array_equal(mean, kept) and np.array_equal(curve(GRID), drawn)


def test_no_leak(small):
    import resource
    gp = bandgp.GP(standard_errors=False)
    sizes = []
    for _ in range(3):
        for _ in range(15):
            gp.fit(*small).predict(np.linspace(0, 60, 50_000), return_std=True)
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert sizes[2] - sizes[1] < 4_000, f"kB: {sizes}"  # 15 rounds return 18 MB


def test_same_bits_from_any_number_of_threads(small):
    one, two = (bandgp.GP(threads=threads).fit(*small) for threads in (1, 2))
    assert one.nll_ == two.nll_ and np.array_equal(one.predict(GRID), two.predict(GRID))


@pytest.mark.parametrize("what", ["predict", "log_marginal_likelihood"])
def test_one_model_in_many_threads(small, what):
    gp = bandgp.GP().fit(*small)
    theta = np.log(list(gp.parameters_.values()))
    calls = {"predict": lambda i: gp.predict(GRID + i, return_std=True),
             "log_marginal_likelihood": lambda i: gp.log_marginal_likelihood(theta + 0.1 * i, eval_gradient=True)}
    expected, wrong = [calls[what](i) for i in range(4)], []

    def ask():
        for i in range(40):
            found = calls[what](i % 4)
            if not all(np.array_equal(a, b) for a, b in zip(found, expected[i % 4])):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_others_run_meanwhile():
    """The interpreter is free during a fit: a thread counts on."""
    t, y = bandgp.simulate(200_000, variance=1, lengthscale=20, noise=0.1, irregular=True)
    fit = threading.Thread(target=lambda: bandgp.GP(standard_errors=False).fit(t, y))
    fit.start()
    ticks = 0
    while fit.is_alive():
        time.sleep(0.005)
        ticks += 1
    assert ticks > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(small):
    """A child has no second thread of its parent's posterior; it must neither hang nor crash."""
    gp = bandgp.GP(threads=2).fit(*small)
    expected = gp.predict(GRID)
    theta = np.log(list(gp.parameters_.values()))
    likely = gp.log_marginal_likelihood(theta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forking beside threads: that is what is tested
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(gp.predict, [GRID] * 4).get(timeout=60)
        child = os.fork()
    if child == 0:
        ok = np.array_equal(gp.predict(GRID), expected) and gp.log_marginal_likelihood(theta) == likely
        del gp
        gc.collect()
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert all(np.array_equal(one, expected) for one in found)


def test_pickle_and_copy(small):
    gp = bandgp.GP("se + matern32", threads=1).fit(*small)
    for twin in (pickle.loads(pickle.dumps(gp)), copy.deepcopy(gp)):
        for a, b in zip(gp.predict(GRID, return_std=True), twin.predict(GRID, return_std=True)):
            assert np.array_equal(a, b)
        assert twin.loo().nlpd == gp.loo().nlpd and repr(twin) == repr(gp)
    assert repr(pickle.loads(pickle.dumps(bandgp.GP("se")))) == "GP()"


def test_copies_keep_the_data():
    """A pickle of a dual may do without; a copy in memory has no reason to."""
    t, y = bandgp.simulate(5_000, variance=1, lengthscale=200, noise=0.1)
    gp = bandgp.GP().fit(t, y)
    for twin in (copy.copy(gp), copy.deepcopy(gp)):
        assert twin.loo().nlpd == gp.loo().nlpd and twin.fit(t, y + 1) is twin
    assert abs(gp.predict([100.0])[0] - twin.predict([100.0])[0] + 1) < 1e-3  # the original is as it was


def test_pickles_are_small():
    """The dual of a long smooth series takes less room than its data, let alone a factor."""
    t, y = bandgp.simulate(20_000, variance=1, lengthscale=200, noise=0.1)
    gp = bandgp.GP(standard_errors=False).fit(t, y)
    data = pickle.dumps(gp)
    assert len(data) < 16 * t.size / 2
    twin = pickle.loads(data)
    assert np.array_equal(twin.predict(t[::100]), gp.predict(t[::100]))
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        twin.loo()
    with pytest.raises(ValueError, match="no data any more"):
        twin.log_marginal_likelihood(twin.theta_)


INTERRUPTED = """
import os, signal, threading, bandgp
t, y = bandgp.simulate(400_000, variance=1, lengthscale=15, noise=0.1, irregular=True)
gp = bandgp.GP("se + se")
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    gp.fit(t, y)
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c():
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stdout + done.stderr
    assert time.monotonic() - began < 60


def test_a_handler_s_exception_ends_the_fit(small):
    class TooLong(Exception):
        pass

    def handler(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TooLong):
            signal.setitimer(signal.ITIMER_REAL, 1e-4)  # may end before the first fit has begun
            for _ in range(1000):
                bandgp.GP().fit(*small)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("options", [
    {}, {"tolerance": 1e-7}, {"method": "exact"}, {"method": "vecchia", "neighbours": 7}, {"method": "vecchia"},
    {"method": "taper", "neighbours": 9, "taper": "c4"}, {"method": "taper", "taper_range": 12.0},
    {"method": "fitc", "inducing": 20, "move_inducing": True}, {"method": "vfe", "inducing": 15}, {"method": "band", "reach": 30.0},
    {"bandwidth": 40}, {"bandwidth": "theorem", "tolerance": 0.1}, {"mean": "linear", "method": "dual"}], ids=str)
def test_loaded_models_know_their_options(small, tmp_path, options):
    """They make the same fit again, and the report says with which command."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bandgp.FitWarning)  # some of these bands are narrow
        gp = bandgp.GP(standard_errors=False, **options).fit(*small)
        gp.save(tmp_path / "m.json")
        loaded = bandgp.GP.load(tmp_path / "m.json")
        unchanged = {"method": "auto", "bandwidth": "auto", "reach": None, "tolerance": 0.01, "mean": "constant"}
        for name, value in {**unchanged, **options}.items():
            assert getattr(loaded, name) == value, name
        loaded.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        command = json.loads(page.split('id="report">')[1].split("</script>")[0])["command"]
        assert all(f"{name}={value!r}" in command for name, value in options.items()), command
        loaded.kernel, loaded.standard_errors = gp.kernel, False  # the file's kernel has values, to start from
        assert loaded.fit(*small).nll_ == gp.nll_


def test_progress(small, capsys, monkeypatch):
    import bandgp._progress as progress
    bandgp.GP().fit(*small)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "LONG_SECONDS", -1.0)
    monkeypatch.setattr(progress, "_tqdm", lambda *_: None)
    bandgp.GP(progress=True).fit(*small)
    shown = capsys.readouterr().err
    assert "bandgp: evaluation" in shown and "lengthscale" in shown and shown.endswith("\r")
    monkeypatch.undo()
    monkeypatch.setattr(progress, "LONG_SECONDS", -1.0)
    if importlib.util.find_spec("tqdm") is not None:
        bandgp.GP(progress=True).fit(*small)
        assert "points, NLL" in capsys.readouterr().err


@pytest.mark.parametrize("shell, tqdm, shown", [("ZMQInteractiveShell", True, True), ("ZMQInteractiveShell", False, False),
                                                ("TerminalInteractiveShell", True, False), (None, True, False)])
def test_progress_in_a_notebook(monkeypatch, shell, tqdm, shown):
    """Shown where a Jupyter kernel runs and tqdm is there; a program without IPython does not import it."""
    from bandgp._progress import Progress
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec",
                        lambda name, *rest: (object() if tqdm else None) if name == "tqdm" else found(name, *rest))
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    if shell:
        fake = types.ModuleType("IPython")
        fake.get_ipython = lambda: type(shell, (), {})()
        monkeypatch.setitem(sys.modules, "IPython", fake)
    assert Progress(None).wanted is shown
    assert Progress(True).wanted and not Progress(False).wanted
    if not shell:
        assert "IPython" not in sys.modules
