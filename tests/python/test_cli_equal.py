# SPDX-License-Identifier: Apache-2.0
"""Numbers equal those of the command line, bit for bit: JSON and CSV hold every digit of a double."""

import io

import numpy as np
import pytest

import bandgp


def same_certificate(certificate, json):
    assert (certificate is None) == (json is None)
    if json is not None:
        for name, value in json.items():
            assert getattr(certificate, name) == value, name


def same_fit(gp, json):
    assert gp.nll_ == json["nll"]
    assert gp.parameters_ == {name: json[name] for name in gp.parameters_}
    assert gp.gradient_ == json["gradient"]
    for name, error in json["standard_errors"].items():  # null: fixed
        assert np.isnan(gp.standard_errors_[name]) if error is None else gp.standard_errors_[name] == error
    assert (gp.kernel_, gp.method_, gp.bandwidth_) == (json["kernel"], json["method"], json["bandwidth"])
    assert (gp.status_, gp.evaluations_, gp.remarks_) == (json["status"], json["evaluations"], json["remarks"])
    assert gp.mean_.tolist() == json["mean"]
    same_certificate(gp.certificate_, json["certificate"])
    for name in ("rows", "used", "dropped", "merged", "span", "min_gap"):
        assert gp.series_[name] == json["series"][name]
    if json["leave_one_out"]:
        loo = gp.loo()
        assert {name: getattr(loo, name) for name in json["leave_one_out"]} == json["leave_one_out"]


@pytest.mark.parametrize("flags, options", [
    ((), {}),
    (("--kernel", "se + se"), {"kernel": "se + se"}),
    (("--mean", "linear", "--fix", "noise=200"), {"mean": "linear", "fix": {"noise": 200}}),
    (("--mean", "zero", "--method", "band", "--tolerance", "0.5"), {"mean": "zero", "method": "band", "tolerance": 0.5}),
    (("--bandwidth", "lemma", "--fix", "variance=1500,lengthscale=0.5,noise=250"),
     {"bandwidth": "lemma", "fix": {"variance": 1500, "lengthscale": 0.5, "noise": 250}}),
    (("--init", "lengthscale=1"), {"init": {"lengthscale": 1}}),
    (("--method", "fitc", "--inducing", "60"), {"method": "fitc", "inducing": 60}),
    (("--method", "vecchia", "--neighbours", "12"), {"method": "vecchia", "neighbours": 12}),
    (("--method", "taper", "--taper-range", "5"), {"method": "taper", "taper_range": 5}),
    (("--thin", "0.3",), {"thin": 0.3}),
])
def test_fit(cli, root, sunspots, flags, options):
    same_fit(bandgp.GP(**options).fit(sunspots), cli("fit", root / "data" / "sunspots.csv", *flags, "--json"))


@pytest.mark.parametrize("method", ["auto", "band", "dual", "exact", "fitc", "vfe", "taper", "vecchia"])
def test_nll(cli, root, sunspots, method):
    theirs = cli("nll", root / "data" / "sunspots.csv", "--variance", 1500, "--lengthscale", 1.5, "--noise", 300,
                 "--method", method, "--json")
    ours = bandgp.nll(sunspots, variance=1500, lengthscale=1.5, noise=300, method=method)
    for name in ("nll", "gradient", "method", "bandwidth", "condition", "rounding"):
        assert getattr(ours, name) == theirs[name], name
    same_certificate(ours.certificate, theirs["certificate"])


def test_predict_and_model_file(cli, fitted, tmp_path):
    fitted.save(tmp_path / "ours.json")
    text = cli("predict", tmp_path / "ours.json", "--grid", "1749,1990,0.5")
    table = np.genfromtxt(io.StringIO(text), delimiter=",", names=True)
    frame = fitted.to_frame(table["time"])
    for column in ("mean", "std_latent", "std_observed"):
        assert np.array_equal(frame[column], table[column]), column


def test_model_of_the_command(cli, root, fitted, tmp_path):
    cli("fit", root / "data" / "sunspots.csv", "-o", tmp_path / "theirs.json", "--quiet")
    loaded = bandgp.GP.load(tmp_path / "theirs.json")
    t = np.linspace(1740, 1990, 333)
    assert loaded.nll_ == fitted.nll_ and len(loaded.trace_) == len(fitted.trace_)
    for ours, theirs in zip(fitted.predict(t, return_std=True), loaded.predict(t, return_std=True)):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("step", ["1h", "1D", "250ms", "30D"])
def test_dates(cli, tmp_path, step):
    """The same timestamps through a file and through pandas: the same doubles, the same fit."""
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2021-03-05 07:30:00" if step != "1D" else "2021-03-05", periods=400, freq=step)
    y = pd.Series(np.sin(np.arange(400) / 15) + np.random.default_rng(1).normal(0, 0.1, 400), index, name="load")
    pd.DataFrame({"time": index.strftime("%Y-%m-%dT%H:%M:%S.%f"), "load": y.to_numpy()}).to_csv(tmp_path / "y.csv", index=False)
    gp = bandgp.GP().fit(y)
    theirs = cli("fit", tmp_path / "y.csv", "--json")
    same_fit(gp, theirs)
    assert gp.series_["time_unit"] == theirs["series"]["time_unit"]
    assert np.array_equal(gp.times_, index.to_numpy())
    gp.save(tmp_path / "m.json")
    index[::7].to_series().dt.strftime("%Y-%m-%dT%H:%M:%S.%f").to_csv(tmp_path / "at.csv", index=False, header=["time"])
    text = cli("predict", tmp_path / "m.json", "--at", tmp_path / "at.csv")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    assert np.array_equal(gp.predict(index[::7]), [float(row[1]) for row in rows])
    assert np.array_equal(pd.to_datetime([row[0] for row in rows]), index[::7])


def test_bandwidth_and_simulate(cli, root, sunspots, tmp_path):
    model = ("--variance", 1500, "--lengthscale", 1.5, "--noise", 300)
    values = {"variance": 1500, "lengthscale": 1.5, "noise": 300}
    assert bandgp.bandwidth(sunspots, **values) == cli("bandwidth", root / "data" / "sunspots.csv", *model, "--json")
    assert bandgp.bandwidth(gap=0.2, n=2000, **values) == cli("bandwidth", "--gap", 0.2, "--n", 2000, *model, "--json")
    cli("simulate", "--n", 500, "--gap", 0.5, *model, "--seed", 7, "-o", tmp_path / "s.csv")
    drawn = bandgp.read_table(tmp_path / "s.csv")
    t, y = bandgp.simulate(500, gap=0.5, seed=7, **values)
    assert np.array_equal(t, drawn.time) and np.array_equal(y, drawn.value)
