# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments from Python: the command line's results, files and resuming."""

import json
import os
import signal
import threading
import time

import pytest

import bandgp


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not k.endswith("seconds") and k != "claims"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing disturbs: its folder and its result."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, bandgp.reproduce("bandwidth", folder, quick=True)


def test_the_command_line_finds_the_same(cli, whole, tmp_path):
    folder, result = whole
    cli("reproduce", "bandwidth", "--quick", "--quiet", "-o", tmp_path)
    assert without_times(json.loads((tmp_path / "bandwidth.json").read_text())) == without_times(result)
    assert sorted(p.name for p in folder.iterdir()) == ["bandwidth.csv", "bandwidth.html", "bandwidth.json", "bandwidth.results.jsonl"]
    assert json.loads((folder / "bandwidth.json").read_text()) == result
    page = json.loads((folder / "bandwidth.html").read_text().split('id="document">')[1].split("</script>")[0])
    assert page["command"] == f"bandgp.reproduce('bandwidth', {str(folder)!r}, quick=True)" and page["created"].endswith("UTC")


def test_ctrl_c_keeps_what_is_done_and_the_same_call_continues(whole, tmp_path):
    store = tmp_path / "bandwidth.results.jsonl"

    def interrupt():
        end = time.monotonic() + 60
        while time.monotonic() < end and (not store.exists() or store.read_text().count("\n") < 5):
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        bandgp.reproduce("bandwidth", tmp_path, quick=True, threads=1)
    thread.join()
    kept = store.read_text()
    fits = (whole[0] / store.name).read_text().count("\n")
    assert 5 <= kept.count("\n") < fits and not (tmp_path / "bandwidth.json").exists()
    again = bandgp.reproduce("bandwidth", tmp_path, quick=True)
    assert store.read_text().startswith(kept) and store.read_text().count("\n") == fits
    assert without_times(again) == without_times(whole[1])


def test_progress_is_told_where_it_is_wanted(whole, capfd, monkeypatch):
    monkeypatch.setattr("bandgp._progress._tqdm", lambda unit, total: None)
    bandgp.reproduce("bandwidth", whole[0], quick=True, progress=True)  # nothing left to do: nothing to tell
    assert "fits" not in capfd.readouterr().err
    (whole[0] / "bandwidth.results.jsonl").unlink()
    bandgp.reproduce("bandwidth", whole[0], quick=True, progress=True)
    assert " fits, " in capfd.readouterr().err


def test_mistakes(tmp_path, monkeypatch):
    monkeypatch.delenv("BANDGP_DATA", raising=False)
    with pytest.raises(ValueError, match='sunspots, eeg or bandwidth, not "sunspot"'):
        bandgp.reproduce("sunspot", tmp_path)
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        bandgp.reproduce("eeg", tmp_path, data=tmp_path / "none")
    with pytest.raises(ValueError, match="BANDGP_DATA"):
        bandgp.reproduce("eeg", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot make the folder"):
        bandgp.reproduce("bandwidth", tmp_path / "file" / "below")
    assert not list(tmp_path.glob("*.json"))


def test_the_bundled_series_is_part_of_the_package():
    assert (bandgp._reproduce.BUNDLED).read_text().startswith("time,sunspots\n")
