#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading through the real binary, each case in a fresh folder: reading.py BINARY [NAME], as run.py

Every kind of file, and all of those in BANDGP_DATA. The truth of times is Python's datetime.
"""

import csv
import datetime as dt
import gzip
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # run.py is no module of a package
from run import AT
from support import Skip, close, main, require

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "y": 31557600}
# What a person would add to read each file of the data folder.
CHOICES = {
    "co2/statsmodels_co2_weekly.csv": ([], 2284, "d"),
    "co2/co2-ppm-daily.csv": ([], 18304, "d"),
    "ecg/mitbih100_mV.csv.gz": ([], 650000, None),
    "eeg/helsinki_eeg1_30s.csv.gz": (["--y", "EEG C4-REF"], 7680, None),
    "eeg/helsinki_eeg36_30s.csv.gz": (["--y", "EEG C4-REF"], 7680, None),
    "eeg/helsinki_eeg70_30s.csv.gz": (["--y", "EEG C4-Ref"], 7680, None),
    "eeg/preterm_burst.edf": (["--channel", "EEG C4-Ref"], 54016, "s"),
    "electricity/PJME_hourly.csv": ([], 145366, "d"),
    "glucose/CGM.csv": (["--y", "glucose"], 52281, "h"),
    "gp_reference/george_first_xy.csv": ([], 15, None),
    "gp_reference/george_scaling_first2000_xy.csv": ([], 2000, None),
    "gp_reference/gpml_demoRegression_pred_matern32.csv": (["--x", "z", "--y", "f_mean"], 101, None),
    "gp_reference/gpml_demoRegression_xy.csv": ([], 20, None),
    "gp_reference/gpml_simple_xy.csv": ([], 20, None),
    "heating/tsHeating.csv.gz": ([], 606837, None),
    "lightcurves/9651065_lc.txt": ([], 65266, None),
    "lightcurves/carma_pack_OGLE-LMC-LPV-00007.dat": ([], 437, None),
    "lightcurves/kplr001430163-2010355172524_llc.csv": (["--yerr", "flux_err"], 4226, None),
    "sunspots/sunspots_3315_1749-01_2025-03.csv": (["--x", "decyear", "--y", "SN"], 3315, None),
}


def data(name=""):
    folder = os.environ.get("BANDGP_DATA")
    if not folder or not Path(folder).is_dir():
        raise Skip(f"no data at {folder or 'BANDGP_DATA'}")
    return Path(folder) / name


def series_of(f, *arguments, stdin=None):
    """What fit tells of the series; everything is fixed, so that training costs nothing."""
    flags = ["--fix", "variance=1,lengthscale=0.01,noise=1", "--json"]
    done = subprocess.run([f.binary, "fit", *map(str, arguments), *flags], cwd=f.path, capture_output=True, timeout=300,
                          input=stdin if stdin is not None else b"")
    require(done.returncode in (0, 1) and done.stdout, done.stderr)
    return json.loads(done.stdout)["series"]


def test_every_file_of_the_data_folder_loads(f):
    folder = data()
    found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.suffix != ".md"}
    require(found <= set(CHOICES), f"no choice for {found - set(CHOICES)}")
    for name, (flags, rows, unit) in CHOICES.items():
        series = series_of(f, folder / name, *flags, "--thin", 20 if rows > 100000 else 1e-9)
        require(series["rows"] == rows and series["bad_lines"] == 0, (name, series))
        require(series["time_unit"] == unit, (name, series))


def test_the_files_load_from_a_pipe_and_gzipped(f):
    folder = data()
    for name in ("electricity/PJME_hourly.csv", "eeg/preterm_burst.edf", "lightcurves/9651065_lc.txt"):
        flags, rows, _ = CHOICES[name]
        content = (folder / name).read_bytes()
        told = series_of(f, folder / name, *flags, "--thin", 20)
        for stdin in (content, gzip.compress(content, 1)):
            require(series_of(f, "-", *flags, "--thin", 20, stdin=stdin) == told, name)


def test_the_load_of_pjm(f):
    series = series_of(f, data("electricity/PJME_hourly.csv"), "--thin", 0.01)
    require(series["sorted"] is False and series["rows"] == 145366 and series["thinned"] == 4, series)
    require(series["first"] == "01-01-2002 01:00" and series["last"] == "03-08-2018 00:00", series)
    close(series["span"], (dt.datetime(2018, 8, 3) - dt.datetime(2002, 1, 1, 1)).total_seconds() / 86400, 1e-14)
    require(series["time_format"] == "%d-%m-%Y %H:%M" and series["time_origin"] == "2002-01-01T00:00:00Z", series)
    require((series["time_column"], series["value_column"]) == ("Datetime", "PJME_MW"), series)


def test_sunspots_in_the_form_of_the_archive(f):
    with open(data("sunspots/sunspots_3315_1749-01_2025-03.csv")) as file:
        rows = list(csv.reader(file))[1:]
    lines = [f"{y};{int(m):02};{float(t):.3f};{float(s):6.1f};{float(e):5.1f};{int(k):5};{d}" for y, m, t, s, e, k, d in rows]
    f.write("SN_m_tot_V2.0.csv", "\r\n".join(lines) + "\r\n")
    at = ["--variance", 1500, "--lengthscale", 0.5, "--noise", 250]
    one = f.json("nll", "SN_m_tot_V2.0.csv", "--x", 3, "--y", 4, *at)
    two = f.json("nll", data("sunspots/sunspots_3315_1749-01_2025-03.csv"), "--x", "decyear", "--y", "SN", *at)
    require(one["nll"] == two["nll"] and one["n"] == 3315, (one, two))


def test_missing_days_are_gaps(f):
    series = series_of(f, data("co2/co2-ppm-daily.csv"))
    days = [dt.date.fromisoformat(line.split(",")[0]) for line in data("co2/co2-ppm-daily.csv").read_text().split()[1:]]
    gaps = [(b - a).days for a, b in zip(days, days[1:])]
    require(series["span"] == (days[-1] - days[0]).days and series["max_gap"] == max(gaps), series)


def test_random_timestamps_in_random_forms(f):
    """Spacing, span and both ends against Python's datetime, and the form of the file in the output."""
    draw = random.Random(8)
    forms = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d-%m-%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%Y%m%d", "%Y/%m/%d %H:%M",
             "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%d-%b-%Y %H:%M", "%Y-%m-%d", "%Y%m%dT%H%M%S", "%Y%m%d%H%M%S",
             "%Y-%m-%dT%H:%M:%S%z"]
    for form in forms * 4:
        unit = draw.choice(list(SECONDS))
        start = dt.datetime(draw.randint(1749, 2100), 1, 1, tzinfo=dt.timezone.utc)
        zone = dt.timezone(dt.timedelta(minutes=30 * draw.randint(-20, 24))) if "%z" in form else dt.timezone.utc
        texts, moments = [], []
        for _ in range(40):
            moment = start + dt.timedelta(seconds=draw.randint(0, 300000000), microseconds=draw.randint(0, 999999))
            text = moment.astimezone(zone).strftime(form)
            back = dt.datetime.strptime(text, form)
            moments.append(back if back.tzinfo else back.replace(tzinfo=dt.timezone.utc))
            texts.append(text)
        f.write("r.csv", "when,y\n" + "".join(f"{t},{math.sin(i)}\n" for i, t in enumerate(texts)))
        flags = [["--time-unit", unit], ["--time-unit", unit, "--time-format", form]][draw.randint(0, 1)]
        series = series_of(f, "r.csv", *flags)
        order = sorted(set(moments))
        # Python's datetime is exact in microseconds; the sum of two times is rounded once more than each of them.
        span = (order[-1] - order[0]) / dt.timedelta(microseconds=1) / SECONDS[unit] / 1e6
        gap = min((b - a) / dt.timedelta(microseconds=1) for a, b in zip(order, order[1:])) / SECONDS[unit] / 1e6
        slack = 4e-16 * series["last_time"]
        require(abs(series["span"] - span) <= slack and abs(series["min_gap"] - gap) <= slack, (form, unit, series, span))
        for key, truth in (("first", order[0]), ("last", order[-1])):
            shown = dt.datetime.strptime(series[key], form)
            shown = shown if shown.tzinfo else shown.replace(tzinfo=dt.timezone.utc)
            require(shown == truth, (form, series[key], truth))
            if "%f" not in form and "%z" not in form:
                require(series[key] in texts, (form, series[key]))


def test_an_ambiguous_date_names_the_flag(f):
    f.write("d.csv", "when,y\n01/02/2003,1\n02/02/2003,2\n03/02/2003,4\n")
    f.refused("fit", "d.csv", says=["d.csv", "when", "--time-format", "%d/%m/%Y", "%m/%d/%Y"])
    require(series_of(f, "d.csv", "--time-format", "%d/%m/%Y")["span"] == 2, "day first")
    require(series_of(f, "d.csv", "--time-format", "%m/%d/%Y", "--time-unit", "d")["span"] == 59, "month first")
    for command in ("nll", "bandwidth"):
        f.refused(command, "d.csv", *AT, says="--time-format")


def test_time_flags_that_are_refused(f):
    f.series()
    f.refused("fit", "data.csv", "--time-unit", "week", says="--time-unit is s, min, h, d or y")
    f.refused("fit", "data.csv", "--time-unit", "h", says=["--time-unit", "plain numbers"])
    f.refused("fit", "data.csv", "--time-format", "%Q", says="%Q")
    f.refused("fit", "data.csv", "--time-format", "iso", says="--time-format")
    f.refused("fit", "data.csv", "--channel", "C3", says="--channel")


def test_epoch_numbers_have_a_unit(f):
    f.write("e.csv", "".join(f"{1700000000 + 60 * i},{math.sin(i)}\n" for i in range(40)))
    series = series_of(f, "e.csv")
    require((series["time_unit"], series["time_format"], series["first"]) == ("s", "epoch-s", "1700000000"), series)
    hours = series_of(f, "e.csv", "--time-unit", "h")
    require(hours["time_unit"] == "h" and hours["first"] == "1700000000", hours)
    close(hours["span"], 39 / 60, 1e-14)
    f.write("ms.csv", "".join(f"{1700000000000 + 250 * i},{math.sin(i)}\n" for i in range(40)))
    require(series_of(f, "ms.csv")["time_unit"] == "ms", "ms")
    require(series_of(f, "e.csv", "--time-format", "number")["time_unit"] is None, "number")


def test_the_summary_tells_columns_unit_and_ends(f):
    f.write("s.csv", "id,when,load,flux_err\n" + "".join(
        f"{i},{i % 28 + 1:02}/01/2003 {i // 28:02}:00,{math.sin(i)},1\n" for i in range(60)) + "x,29/01/2003 00:00,oops,1\n")
    text = f.run("fit", "s.csv", "--y", "load", "--skip-bad").stdout
    for part in ("load against when; not used: id, flux_err (flux_err looks like standard errors: --yerr flux_err)", "1 malformed line skipped", "times 01/01/2003 00:00 to",
                 "unit of time d (days)", "lengthscale"):
        require(part in text, (part, text))
    require("malformed lines" not in text, text)
    f.write("n.txt", "".join(f"{i} {math.sin(i)} 1\n" for i in range(60)))
    require("column 2 against column 1, errors column 3" in f.run("fit", "n.txt", "--yerr", 3).stdout, "numbers")
    require("column 2 against column 1; not used: column 3\n" in f.run("nll", "n.txt", *AT).stdout, "numbers that are not used")


def test_a_column_of_standard_errors_is_pointed_out_until_it_is_used(f):
    rows = "".join(f"{i},{math.sin(i)},0.1,{0.1 + i % 2},7\n" for i in range(60))
    at = ["--x", "t", "--y", "flux"]
    for names, hint in (("t,flux,flux unc,other,x", None), ("t,flux,flux_unc,other,x", "flux_unc looks like standard errors: --yerr flux_unc"),
                        ("t,flux,flux_err,sky_err,x", "flux_err looks like standard errors: --yerr flux_err"),
                        ("t,flux,a_err,sky_err,x", None), ("t,flux,a,\"my err uncertainty\",x", "--yerr 'my err uncertainty'")):
        f.write("e.csv", names + "\n" + rows)
        text = f.run("nll", "e.csv", *at, "--variance", 1, "--lengthscale", 1, "--noise", 1).stdout
        require(hint in text if hint else "standard errors" not in text, (names, text))
    f.write("e.csv", "t,flux,flux_err\n" + "".join(f"{i},{math.sin(i) + 0.3 * (i % 7 - 3)},0.1\n" for i in range(60)))
    require("not used: flux_err (looks like standard errors: --yerr flux_err)" in f.run("fit", "e.csv").stdout, "only one")
    text = f.run("fit", "e.csv", "--yerr", "flux_err").stdout
    require("standard errors" not in text and re.search(r"noise .*, a standard deviation of \S+ beyond the errors given\n", text), text)
    require("beyond" not in f.run("fit", "e.csv").stdout, "no errors are given")


def test_a_model_keeps_the_time_axis(f):
    f.write("m.csv", "when,y\n" + "".join(f"{2000 + i // 12}-{i % 12 + 1:02},{math.sin(i / 5)}\n" for i in range(80)))
    f.run("fit", "m.csv", "-o", "m.json")
    axis = json.loads((f.path / "m.json").read_text())["time_axis"]
    require(axis == {"unit": "y", "format": "%Y-%m", "origin": 946684800, "zone": 0, "digits": 0}, axis)


def test_advice_on_decimal_commas(f):
    f.write("c.csv", "t;y\n1;2\n2;12,5\n")
    f.refused("fit", "c.csv", says=["c.csv:3", "12,5", "decimal commas", "12.5"])


def npy(array, shape, kind, fortran=False):
    header = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b" " * ((118 - len(header)) % 64) + b"\n"
    code = {"f8": "d", "f4": "f", "i2": "h", "i4": "i", "i8": "q"}[kind[1:]]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"{kind[0]}{len(array)}{code}", *array)


def test_numpy_arrays(f):
    times, values = [0.5 * i for i in range(50)], [float(round(100 * math.sin(i))) for i in range(50)]
    f.write("a.csv", "".join(f"{t!r},{v!r}\n" for t, v in zip(times, values)))
    truth = f.json("nll", "a.csv", *AT)["nll"]
    both = [x for pair in zip(times, values) for x in pair]
    for name, content, flags in (("c.npy", npy(both, (50, 2), "<f8"), []),
                                 ("big", npy(both, (50, 2), ">f8"), []),
                                 ("f.npy", npy(times + values, (50, 2), "<f8", True), []),
                                 ("i2.npy", npy(list(map(int, values)), (50,), "<i2"), ["--step", 0.5]),
                                 ("i8.npy", npy(list(map(int, values)), (50,), ">i8"), ["--step", 0.5]),
                                 ("f4.npy", npy(values, (50,), "<f4"), ["--step", 0.5])):
        (f.path / name).write_bytes(content)
        require(f.json("nll", name, *AT, *flags)["nll"] == truth, name)
    (f.path / "s.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 60) +
                                   b"{'descr': [('t', '<f8')], 'fortran_order': False, 'shape': (1,)}"[:60])
    f.refused("nll", "s.npy", *AT, says="structured")
    f.refused("nll", "i2.npy", *AT, says="--step")


def test_written_by_numpy(f):
    try:
        import numpy
    except ImportError:
        raise Skip("no numpy here")
    times = numpy.arange(200) * 0.25
    table = numpy.column_stack([times, numpy.sin(times), numpy.full(200, 0.1)])
    numpy.savetxt(f.path / "t.txt", table, fmt="%.17g")
    truth = f.json("nll", "t.txt", *AT, "--yerr", 3)["nll"]
    for name, array in (("c.npy", table), ("f.npy", numpy.asfortranarray(table)), ("b.npy", table.astype(">f8"))):
        numpy.save(f.path / name, array)
        require(f.json("nll", name, *AT, "--yerr", 3)["nll"] == truth, name)


def test_endless_input_ends(f):
    """No memory is eaten: a zero byte is no text, and there is an end to a line."""
    for source in ("/dev/zero",):
        f.refused("nll", source, *AT, says="zero byte")
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run([f.binary, "nll", "-", *AT], stdin=zero, cwd=f.path, capture_output=True, text=True, timeout=60)
    require(done.returncode == 2 and "zero byte" in done.stderr, done)
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb", compresslevel=9) as file:
        for _ in range(100):
            file.write(b"1" * 1000000)
    (f.path / "bomb.csv.gz").write_bytes(bomb.getvalue())
    f.refused("nll", "bomb.csv.gz", *AT, says="longer than 16 MB")


if __name__ == "__main__":
    sys.exit(main(globals()))
