# SPDX-License-Identifier: Apache-2.0
"""The package as people get it: types, looks, documents, notebook, and the wheel in an empty environment."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import bandgp

PACKAGE = Path(bandgp.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def test_types():
    """mypy, strictly, on the package with the stubs that the module makes of itself, and on a user's lines."""
    pytest.importorskip("mypy")
    settings = ("--config-file", ROOT / "pyproject.toml", "--cache-dir", os.devnull)
    run(sys.executable, "-m", "mypy", *settings, "-p", "bandgp", cwd=PACKAGE.parent)
    user = ("import bandgp\ngp = bandgp.GP('se').fit([1, 2, 3], [1, 2, 4])\nx: float = gp.noise_\n"
            "reveal_type(gp.predict([1.0]))\ngp.fit(1, 2, 3, 4)\n")
    done = subprocess.run([sys.executable, "-m", "mypy", *settings, "-c", user],
                          capture_output=True, text=True, cwd=PACKAGE.parent, timeout=600)
    assert done.stdout.count("error") == 2 and "Too many arguments" in done.stdout, done.stdout  # that one, and its total


def test_the_stub_tells_everything():
    stub = (PACKAGE / "_core.pyi").read_text()
    for name in dir(bandgp._core):
        if not name.startswith("_"):
            assert re.search(rf"(class|def) {name}\b", stub), name


def test_looks(fitted):
    page = fitted._repr_html_()
    assert page.count("<path") == 3 and "converged" in page and "nan" not in page.lower()
    assert "&lt;script" in bandgp.GP(kernel="<script>")._repr_html_()
    assert "lengthscale 1.55" in repr(fitted) and repr(bandgp.GP("se + se", threads=1)) == "GP(kernel='se + se', threads=1)"
    text = fitted.summary()
    assert "the exact GP's NLL is within" in text and "± " in text


def test_plot(fitted):
    pytest.importorskip("matplotlib")
    axes = fitted.plot()
    assert len(axes.lines) == 2 and len(axes.collections) == 1
    assert axes.lines[0].get_xdata().size == 2820


def test_report(fitted, tmp_path):
    fitted.report(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text()
    assert page.startswith("<!") and len(page) > 100_000


def test_trace_and_attributes(fitted):
    assert fitted.trace_["nll"][-1] >= fitted.nll_ - 1e-6 and len(fitted.trace_) == fitted.evaluations_
    public = [name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")]
    assert len(public) > 20
    for name in public:
        getattr(fitted, name)
        assert name in (bandgp.GP.__doc__ or "") or name in ("theta_", "gradient_"), name


# -W on the command line takes none but the built-in categories.
STRICT = 'import warnings\nimport bandgp\nwarnings.simplefilter("error", bandgp.FitWarning)\n'


def documents(root):
    for document in (root / "README.md", root / "docs" / "python.md"):
        blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)
        assert blocks, document
        yield pytest.param("\n".join(blocks), id=document.name)


@pytest.mark.parametrize("code", list(documents(ROOT)))
def test_documents(code, root, tmp_path):
    """Every Python line of the documents runs, one document in one session."""
    (tmp_path / "data").symlink_to(root / "data")
    (tmp_path / "lines.py").write_text(STRICT + code, encoding="utf-8")
    run(sys.executable, "lines.py", cwd=tmp_path)


def test_documents_would_fail_at_a_warning(tmp_path):
    (tmp_path / "lines.py").write_text(STRICT + "import numpy\nt = numpy.arange(400.0)\n"
                                                "bandgp.GP().fit(t, numpy.sin(t / 10))  # without noise: rounding\n")
    with pytest.raises(AssertionError, match="FitWarning"):
        run(sys.executable, "lines.py", cwd=tmp_path)


def kinds(cell):
    """What a cell shows, by kind; progress comes and goes with the machine's speed."""
    return [sorted(output.get("data", {"text": 0})) for output in cell.get("outputs", []) if output.get("name") != "stderr"]


def test_notebook(root, monkeypatch):
    """It runs, and shows what is stored with it. BANDGP_STORE_NOTEBOOK=1 stores it anew."""
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook draws in itself
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    path = root / "python" / "examples" / "tour.ipynb"
    stored = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(root)}})
    client.execute()
    if os.environ.get("BANDGP_STORE_NOTEBOOK"):
        notebook.metadata = stored.metadata  # nothing of this machine
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        nbformat.write(notebook, path)
        stored = nbformat.read(path, as_version=4)
    shown = [kind for cell in notebook.cells for output in kinds(cell) for kind in output]
    assert "text/html" in shown and "image/png" in shown
    assert [kinds(cell) for cell in stored.cells] == [kinds(cell) for cell in notebook.cells], "store it anew"
    text = path.read_text(encoding="utf-8")
    assert str(root) not in text and "/tmp/" not in text and "/home/" not in text, "a path of the machine it ran on"


EXERCISE = """
import sys, numpy, bandgp
assert "site-packages" in bandgp.__file__, bandgp.__file__
t, y = bandgp.simulate(3000, variance=1, lengthscale=10, noise=0.1, seed=1)
gp = bandgp.GP().fit(t, y)
assert gp.certificate_.holds and abs(gp.lengthscale_ - 10) < 2
gp.save("m.json"); gp.report("r.html")
assert numpy.array_equal(bandgp.GP.load("m.json").predict(t), gp.predict(t))
try:
    bandgp.BandedGPRegressor
except ImportError as error:
    assert "pip install scikit-learn" in str(error)
else:
    raise AssertionError("scikit-learn is not in this environment")
try:
    gp.plot()
except ImportError as error:
    assert "pip install matplotlib" in str(error)
print(bandgp.__version__)
"""


def test_wheel(root, tmp_path):
    """Built as pip does, and installed into an environment that has NumPy and nothing else.

    At short effort the wheel takes the module that is tested here; at full effort all of it is compiled again.
    """
    pytest.importorskip("scikit_build_core")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    effort = os.environ.get("BANDGP_TEST_EFFORT", "full")
    assert effort in ("full", "short")
    prebuilt = ("-C", f"cmake.define.BANDGP_PREBUILT_MODULE={PACKAGE}", "-C", f"build-dir={tmp_path / 'build'}")
    run(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "-w", tmp_path,
        *(prebuilt if effort == "short" else ()), root, env=environment)
    wheel, = tmp_path.glob("bandgp-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name for name in names if not name.startswith("bandgp-")}
    assert all(name.startswith("bandgp/") for name in inside), "no headers, no command, no library"
    assert {"bandgp/__init__.py", "bandgp/_core.pyi", "bandgp/py.typed"} <= inside
    assert sum(name.endswith((".so", ".a")) for name in inside) == 1
    if sys.version_info >= (3, 12):
        assert "cp312-abi3" in wheel.name
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", wheel, env=environment)
    assert run(python, "-c", EXERCISE, cwd=tmp_path, env=environment).strip() == bandgp.__version__
