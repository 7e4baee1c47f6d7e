# SPDX-License-Identifier: Apache-2.0
"""Whatever people have their numbers in: kind, layout, dates, holes, and what is refused."""

import datetime
import pickle
import tracemalloc

import numpy as np
import pytest

import bandgp


def test_layouts_and_kinds(small):
    t, y = small
    expected = bandgp.GP().fit(t, y).nll_
    read_only = y.copy()
    read_only.flags.writeable = False
    wide = np.empty((t.size, 3))
    wide[:, 1] = y
    for values in (y.tolist(), tuple(y), read_only, wide[:, 1], y[::-1][::-1], y[:, None], y.astype(">f8"),
                   np.ma.array(y), np.asfortranarray(y)):
        assert bandgp.GP().fit(t, values).nll_ == expected
    assert not read_only.flags.writeable and np.array_equal(read_only, y)
    assert bandgp.GP().fit(np.arange(50), np.arange(50) % 7).series_["used"] == 50
    assert bandgp.GP().fit(t.astype(np.float32), y.astype(np.float32)).status_ == "converged"


def test_pandas_polars_arrow(small):
    t, y = small
    expected = bandgp.GP().fit(t, y).nll_
    pd = pytest.importorskip("pandas")
    assert bandgp.GP().fit(pd.Series(y, index=t)).nll_ == expected
    assert bandgp.GP().fit(pd.Series(t), pd.array(y, dtype="Float64")).nll_ == expected
    holes = pd.array([*y, None], dtype="Float64")
    gp = bandgp.GP().fit([*t, 99.0], holes)
    assert gp.nll_ == expected and gp.series_["dropped"] == 1
    try:
        import polars
        assert bandgp.GP().fit(polars.Series(t), polars.Series(y)).nll_ == expected
    except ImportError:
        pass
    try:
        import pyarrow
        assert bandgp.GP().fit(pyarrow.array(t), pyarrow.chunked_array([y[:9], y[9:]])).nll_ == expected
        assert bandgp.GP().fit(pyarrow.array([*t, 9.0]), pyarrow.array([*y, None])).nll_ == expected
    except ImportError:
        pass


def test_dates_of_every_kind():
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2024-02-27 12:00", periods=200, freq="3h")
    y = np.sin(np.arange(200) / 9) + np.random.default_rng(2).normal(0, 0.1, 200)
    expected = bandgp.GP().fit(index, y)
    stamps = index.to_numpy()
    python = [stamp.to_pydatetime() for stamp in index]
    zone = datetime.timezone(datetime.timedelta(hours=5))
    aware = [stamp.replace(tzinfo=datetime.timezone.utc).astimezone(zone) for stamp in python]
    for times in (stamps, stamps.astype("datetime64[s]"), stamps.astype("datetime64[h]"), python, aware,
                  index.tz_localize("UTC").tz_convert("Asia/Tokyo"), pd.Series(index), pd.Series(index.tz_localize("UTC"))):
        gp = bandgp.GP().fit(times, y)
        assert gp.nll_ == expected.nll_
        assert np.array_equal(gp.times_, stamps)
        assert np.array_equal(gp.predict(times), expected.predict(stamps))
    assert bandgp.GP(time_unit="h").fit(index, y).lengthscale_ == pytest.approx(24 * expected.lengthscale_, rel=1e-4)
    days = [datetime.date(1900, 1, 1) + datetime.timedelta(days=31 * i) for i in range(200)]
    assert bandgp.GP().fit(days, y).series_["time_unit"] == "y"
    holes = stamps.copy()
    holes[3] = np.datetime64("NaT")
    assert bandgp.GP().fit(holes, y).series_["dropped"] == 1
    frame = expected.to_frame()
    assert frame.index.dtype.kind == "M" and list(frame.columns) == ["mean", "std_latent", "std_observed"]
    with pytest.raises(ValueError, match="give datetimes"):
        expected.predict([1.0])
    with pytest.raises(ValueError, match="plain numbers"):
        bandgp.GP().fit(np.arange(200.0), y).predict(stamps)
    before_1678 = np.datetime64("1500-01-01", "s") + np.arange(200) * np.timedelta64(86400, "s")
    assert np.array_equal(bandgp.GP().fit(before_1678, y).times_, before_1678)


def test_missing_dates_and_values_of_every_kind():
    """NaT, NA, None and masks, wherever they stand: the row is dropped, the others count as they do without it."""
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2024-02-27 12:00", periods=200, freq="3h")
    y = np.sin(np.arange(200) / 9) + np.random.default_rng(2).normal(0, 0.1, 200)
    for row in (0, 5, 150):
        left = np.arange(200) != row
        expected = bandgp.GP().fit(index[left], y[left])
        stamps, tokyo, values = list(index), list(index.tz_localize("UTC").tz_convert("Asia/Tokyo")), list(y)
        stamps[row] = tokyo[row] = pd.NaT
        values[row] = pd.NA
        pairs = [(stamps, y), (tokyo, y), (pd.Series(stamps, dtype=object), y), (np.array(tokyo, dtype=object), y),
                 ([None if stamp is pd.NaT else stamp.to_pydatetime() for stamp in stamps], y),
                 ([pd.NaT if stamp is pd.NaT else stamp.to_numpy() for stamp in stamps], y),
                 (pd.Series([pd.NA if stamp is pd.NaT else stamp for stamp in stamps], dtype=object), y),
                 (np.ma.array(index.to_numpy(), mask=~left), y),
                 (np.ma.array(np.array(list(index), dtype=object), mask=~left), y),
                 (index, values), (index, pd.Series(values, dtype=object)), (index, np.ma.array(y, mask=~left))]
        for times, numbers in pairs:
            gp = bandgp.GP().fit(times, numbers)
            assert gp.series_["dropped"] == 1 and gp.nll_ == expected.nll_
            assert np.array_equal(gp.times_, expected.times_)
    with pytest.raises(ValueError, match=r"t\[0\] is NaT, must be finite"):
        expected.predict([pd.NaT, index[3]])
    with pytest.raises(ValueError, match="none of the 3 rows"):
        bandgp.GP().fit([1, 2, 3], [None, pd.NA, pd.NaT])
    fine = [stamp + pd.Timedelta(7, "ns") for stamp in index]
    assert np.array_equal(bandgp.GP().fit(fine, y).times_, pd.DatetimeIndex(fine).to_numpy())


def test_zones_come_back(tmp_path):
    """to_frame() is in the zone given, and in UTC once a model file is between; times_ are UTC, as NumPy has no zones."""
    pd = pytest.importorskip("pandas")
    naive = pd.date_range("2024-02-27 12:00", periods=200, freq="3h")
    index = naive.tz_localize("UTC").tz_convert("Asia/Tokyo")
    y = np.sin(np.arange(200) / 9) + np.random.default_rng(2).normal(0, 0.1, 200)
    plain = bandgp.GP().fit(naive, y)
    assert plain.to_frame().index.tz is None
    east = datetime.timezone(datetime.timedelta(hours=5))
    kinds = [(index, "Asia/Tokyo"), (pd.Series(index), "Asia/Tokyo"), (list(index), "Asia/Tokyo"),
             ([stamp.to_pydatetime().astimezone(east) for stamp in index], "UTC+05:00"),
             ([stamp.tz_convert("UTC" if i % 2 else "Asia/Tokyo") for i, stamp in enumerate(index)], "UTC")]
    try:
        import polars
        import pyarrow
        kinds += [(polars.Series(list(naive)).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"), "Asia/Tokyo"),
                  (pyarrow.array(index), "Asia/Tokyo"),
                  (pd.Series(index).astype(pd.ArrowDtype(pyarrow.timestamp("ns", "Asia/Tokyo"))), "Asia/Tokyo")]
    except ImportError:
        pass
    for times, zone in kinds:
        gp = bandgp.GP().fit(times, y)
        assert np.array_equal(gp.times_, naive.to_numpy())
        for twin in (gp, pickle.loads(pickle.dumps(gp))):
            shown = twin.to_frame().index
            assert str(shown.tz) == zone
            assert np.array_equal(shown.tz_convert("UTC").tz_localize(None), plain.to_frame().index)
        assert str(gp.to_frame(index[:3]).index.tz) == "Asia/Tokyo"
        gp.save(tmp_path / "zoned.json")
        assert str(bandgp.GP.load(tmp_path / "zoned.json").to_frame().index.tz) == "UTC"
    gp.fit(naive, y)
    assert gp.to_frame().index.tz is None
    midnights = pd.date_range("2024-01-01", periods=200, freq="D", tz="UTC")
    bandgp.GP().fit(midnights, y).save(tmp_path / "days.json")
    assert str(bandgp.GP.load(tmp_path / "days.json").to_frame().index.tz) == "UTC"


def test_rows_keep_their_place(small):
    """Shuffled, with a hole and a repeated time: leave-one-out comes back row by row."""
    t, y = small
    order = np.random.default_rng(8).permutation(t.size)
    in_order = bandgp.GP().fit(t, y).loo()
    with pytest.warns(bandgp.FitWarning, match="^1 of 301 rows is left out: not all of their numbers are finite$") as told:
        shuffled = bandgp.GP().fit(np.append(t[order], 5.0), np.append(y[order], np.nan))
    assert [w.filename for w in told] == [__file__]  # where fit() was called
    assert shuffled.series_["dropped"] == 1 and not shuffled.series_["sorted"]
    loo = shuffled.loo()
    assert np.isnan(loo.mean[-1]) and np.array_equal(loo.mean[:-1], in_order.mean[order])
    assert np.array_equal(loo.standardised[:-1], in_order.standardised[order])


def test_forecasts_go_on_from_the_data():
    t = np.arange(200.0)
    gp = bandgp.GP("periodic(period=25) + matern12").fit(t, np.sin(2 * np.pi * t / 25) + t / 100)
    ahead = gp.forecast(10)
    assert np.array_equal(ahead.time, np.arange(200.0, 210.0))
    mean, std = gp.predict(ahead.time, return_std=True)
    assert np.array_equal(ahead.mean, mean) and np.array_equal(ahead.std, std)
    assert (ahead.std_observed >= ahead.std).all() and np.abs(ahead.mean - np.sin(2 * np.pi * ahead.time / 25) - 2).max() < 0.5
    assert len(gp.forecast(10, step=2.5).time) == 4
    hours = np.datetime64("2024-02-28") + np.arange(60) * np.timedelta64(1, "h")
    dated = bandgp.GP("matern12").fit(hours, np.sin(np.arange(60)))
    for horizon in ("3h", datetime.timedelta(hours=3), np.timedelta64(3, "h")):
        assert (dated.forecast(horizon).time == hours[-1] + np.arange(1, 4) * np.timedelta64(1, "h")).all()
    assert len(dated.forecast("1d", "12h").time) == 2
    for horizon in (0, -1, "soon", "10min"):
        with pytest.raises(ValueError):
            dated.forecast(horizon)


def test_one_standard_error_counts_for_all(small):
    t, y = small
    fix = {"noise": 0.01}
    one, all_of_them = (bandgp.GP(fix=fix).fit(t, y, yerr=yerr) for yerr in (0.1, np.full(t.size, 0.1)))
    assert one.nll_ == all_of_them.nll_ and one.parameters_ == all_of_them.parameters_
    assert one.nll_ != bandgp.GP(fix=fix).fit(t, y).nll_
    at = {"variance": 1.0, "lengthscale": 2.0, "noise": 0.1}
    assert bandgp.nll(t, y, 0.1, **at).nll == bandgp.nll(t, y, [0.1] * t.size, **at).nll


@pytest.mark.parametrize("arguments, options, says", [
    (([1, 2, 3], [1, 2]), {}, "time has 3 values, value has 2"),
    (([1, 2, 3], None), {}, "y is missing"),
    (([1, 2, 3], ["a", "b", "c"]), {}, "y has the type"),
    (([1, 2, 3], [1j, 2, 3]), {}, "y has the type"),
    (([[1, 2], [3, 4]], [1, 2]), {}, r"^t must be one-dimensional, it has the shape \(2, 2\)$"),
    (([1, 2], [[1, 2], [3, 4]]), {}, r"^y must be one-dimensional, it has the shape \(2, 2\)$"),
    (([1, 2, 3], [1, 2, 4], -1), {}, r"yerr\[0\] is -1"),
    (([1, 2, 3], [5, 5, 5]), {}, "all 3 values are equal"),
    (([1, 2, 3], [np.nan] * 3), {}, "none of the 3 rows"),
    (([1, 2, 3], [1, 2, 4], [1, -1, 1]), {}, r"yerr\[1\] is -1"),
    (([1, 2, 3], [1, 2, 4]), {"kernel": "sinc"}, "unknown shape"),
    (([1, 2, 3], [1, 2, 4]), {"method": "magic"}, "magic"),
    (([1, 2, 3], [1, 2, 4]), {"mean": "cubic"}, "cubic"),
    (([1, 2, 3], [1, 2, 4]), {"tolerance": 0}, "tolerance is 0"),
    (([1, 2, 3], [1, 2, 4]), {"inducing": 5}, "inducing is for method fitc or vfe"),
    (([1, 2, 3], [1, 2, 4]), {"method": "dual", "bandwidth": 3}, "bandwidth is for method auto or band"),
    (([1, 2, 3], [1, 2, 4]), {"bandwidth": "theorem", "kernel": "se + se"}, "for the kernel se alone"),
    (([1, 2, 3], [1, 2, 4]), {"bandwidth": "theorem", "kernel": "Matern-3/2"}, "for the kernel se alone"),
    (([1, 2, 3], [1, 2, 4]), {"fix": {"nois": 1}}, "no parameter 'nois'; the kernel has variance, lengthscale, noise"),
    (([1, 2, 3], [1, 2, 4]), {"fix": {"noise": 0}}, r"known positive error for every point \(yerr\)"),
    (([1, 2, 3], [1, 2, 4]), {"fix": {"noise": 1}, "init": {"noise": 1}}, "only one can hold"),
    (([1, 2, 3], [1, 2, 4]), {"threads": 0}, "threads is 0"),
])
def test_refusals(arguments, options, says):
    with pytest.raises(ValueError, match=says):
        bandgp.GP(**options).fit(*arguments)


def test_errors_have_codes_fields_and_the_names_of_arguments(small, tmp_path):
    with pytest.raises(ValueError) as equal:
        bandgp.GP().fit([1, 2, 3], [5, 5, 5])
    assert equal.value.code == "equal_values" and equal.value.fields == {"observations": 3, "value": 5.0}
    (tmp_path / "a.csv").write_text("y\n1\n2\n")
    with pytest.raises(ValueError, match="give the spacing of its values by step") as one:
        bandgp.read_table(tmp_path / "a.csv")
    assert one.value.code == "one_column" and one.value.fields["place"].endswith("a.csv")
    (tmp_path / "b.csv").write_text("t,y\n31/12/02,1\n30/12/02,2\n")
    with pytest.raises(ValueError, match='such as time_format="%d/%m/%y"') as date:
        bandgp.read_table(tmp_path / "b.csv")
    assert date.value.code == "unknown_date" and date.value.fields["column"] == "t"
    (tmp_path / "c.csv").write_text("t,y\n1,2\n2,x\n")
    with pytest.raises(ValueError, match=r"c.csv:3: \"x\" is not a number \(column y\); skip_bad=True drops such lines"):
        bandgp.read_table(tmp_path / "c.csv")
    t, y = small
    with pytest.raises(MemoryError, match=r"allowed: thin the series"):
        bandgp.GP(method="band", max_bytes=100).fit(t, y)


def test_errors_of_other_kinds(small, tmp_path):
    t, y = small
    gp = bandgp.GP()
    with pytest.raises(bandgp.NotFittedError, match="not fitted yet"):
        gp.predict([1.0])
    assert not hasattr(gp, "nll_")
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        bandgp.nll(t, y, variance=1e9, lengthscale=30, noise=1e-9, bandwidth=2)
    with pytest.raises(MemoryError):
        bandgp.GP(method="band", max_bytes=100).fit(t, y)
    with pytest.raises(FileNotFoundError):
        bandgp.GP.load(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError):
        bandgp.read_table(tmp_path / "none.csv")
    (tmp_path / "bad.json").write_text('{"format": "other"}')
    with pytest.raises(ValueError, match="bad.json"):
        bandgp.GP.load(tmp_path / "bad.json")
    gp.fit(t, y)
    with pytest.raises(OSError, match="cannot write"):
        gp.save(tmp_path / "no" / "folder.json")
    with pytest.raises(OSError):
        gp.report(tmp_path / "no" / "folder.html")
    with pytest.raises(ValueError, match="must be finite"):
        gp.predict([1.0, np.nan])
    with pytest.warns(bandgp.FitWarning, match="not converged"):
        bandgp.GP(max_evaluations=2).fit(t, y)


def test_no_copies(fitted):
    """10⁶ doubles go in as they are; what comes out is the library's own memory."""
    t = np.linspace(1749, 1983, 10**6)
    fitted.predict(t[:10])
    tracemalloc.start()
    mean = fitted.predict(t)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert mean.size == t.size and peak < 4e6, "NumPy was asked for more than masks of bytes"
    assert mean.flags.writeable and not mean.flags.owndata
