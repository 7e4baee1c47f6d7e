#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bandgp period: period.py BINARY [NAME]"""

import datetime
import math
import random
import sys

from support import SUNSPOTS, main, require


def hourly(f, name="load.csv", days=60, noise=0.3, week=1):
    """A day and a week, hour by hour, with rows that are missing."""
    draw = random.Random(3)
    start = datetime.datetime(2020, 1, 1)
    lines = ["when,load"]
    for i in range(24 * days):
        if draw.random() < 0.2:
            continue
        y = 100 + 0.01 * i + 2 * math.sin(2 * math.pi * i / 24) + week * math.cos(2 * math.pi * i / 168) + draw.gauss(0, noise)
        lines.append(f"{start + datetime.timedelta(hours=i):%Y-%m-%d %H:%M},{y!r}")
    return f.write(name, "\n".join(lines) + "\n")


def test_the_sunspot_cycle(f):
    text = f.run("period", SUNSPOTS).stdout
    require("11.05 " in text or "11.05" in text, text)
    for part in ("Looked at", "Peaks", "Periodogram", "█", "false alarm"):
        require(part in text, (part, text))
    result = f.json("period", SUNSPOTS)
    top = result["peaks"][0]
    require(10 < top["period"] < 11.2 and 0 < top["period_error"] < 0.1, top)
    require(abs(top["period"] * top["frequency"] - 1) < 1e-12, top)
    require(0 < top["power"] < 1 and top["log10_false_alarm"] < -3 and not top["wanders"], top)
    require(result["n"] == 2820 and result["mean"] == "linear" and not result["cancelled"], result)


def test_a_day_and_a_week_in_their_words(f):
    name = hourly(f)
    text = f.run("period", name).stdout
    require(" h " in text and " d " in text, text)
    result = f.json("period", name)
    unit = {"h": 24, "d": 1, "min": 1440, "s": 86400}[result["series"]["time_unit"]]
    periods = [peak["period"] / unit for peak in result["peaks"]]
    require(len(periods) == 2 and abs(periods[0] - 1) < 0.005 and abs(periods[1] - 7) < 0.1, periods)
    for peak, days in zip(result["peaks"], (1, 7)):
        require(abs(peak["period"] / unit - days) < 4 * peak["period_error"] / unit, peak)
    only = f.json("period", name, "--shortest", "2d", "--longest", "30d")
    require(len(only["peaks"]) == 1 and only["shortest"] >= 2 * unit * (1 - 1e-9), only)
    require(only["longest"] <= 30 * unit * (1 + 1e-9), only)


def test_the_periodogram_as_csv(f):
    name = hourly(f)
    text = f.run("period", name, "-o", "-").stdout
    header, *rows = text.splitlines()
    require(header == "frequency,period,power,noise,rest", header)
    result = f.json("period", name, "-o", "p.csv")
    require((f.path / "p.csv").read_text() == text, "the file and standard output")
    numbers = [[float(cell) for cell in row.split(",")] for row in rows]
    require(len(numbers) == result["frequencies"]["count"], len(numbers))
    highest = max(numbers, key=lambda row: row[2])
    require(abs(highest[0] - result["peaks"][0]["frequency"]) < result["frequencies"]["step"], highest)
    require(all(0 <= power <= 1 and 0 <= rest <= 1 and noise > 0 for _, _, power, noise, rest in numbers), "shares")
    near = min(numbers, key=lambda row: abs(row[0] - result["peaks"][0]["frequency"]))
    require(near[4] < 0.1 * near[2], ("the peak is taken out", near))
    require(f.run("period", name, "--threads", 1, "-o", "-").stdout == text, "threads")


def test_noise_has_no_period(f):
    draw = random.Random(5)
    f.write("noise.csv", "t,y\n" + "".join(f"{i},{draw.gauss(0, 1)!r}\n" for i in range(500)))
    require(f.json("period", "noise.csv")["peaks"] == [], "peaks")
    require("none that noise makes" in f.run("period", "noise.csv").stdout, "text")
    # What is called a peak is for the user to say.
    require(len(f.json("period", "noise.csv", "--false-alarm", 0.9999, "--peaks", 3)["peaks"]) <= 3, "peaks")


def test_known_errors_count(f):
    draw = random.Random(6)
    lines = []
    for i in range(400):
        error = 0.05 if i % 4 else 30
        lines.append(f"{i},{math.sin(2 * math.pi * i / 17) + error * draw.gauss(0, 1)!r},{error}\n")
    f.write("e.csv", "t,y,e\n" + "".join(lines))
    found = f.json("period", "e.csv", "--yerr", "e")["peaks"]
    require(found and abs(found[0]["period"] - 17) < 0.02, found)
    require(f.json("period", "e.csv", "--y", "y")["peaks"] == [], "without errors the period drowns")


def test_sampling_and_aliases_are_told(f):
    draw = random.Random(8)
    lines = ["t,y\n"]
    for night in range(50):
        for _ in range(3):
            t = night + draw.uniform(0, 0.1)
            lines.append(f"{t!r},{math.sin(2 * math.pi * t / 0.43) + 0.5 * draw.gauss(0, 1)!r}\n")
    f.write("nights.csv", "".join(lines))
    result = f.json("period", "nights.csv", "--shortest", 0.2)
    require(abs(result["sampling_periods"][0] - 1) < 0.02, result["sampling_periods"])
    told = [result["peaks"][0]["period"]] + [alias["period"] for alias in result["peaks"][0]["aliases"]]
    require(any(abs(1 / p - 1 / 0.43) < 0.02 for p in told), told)
    require("repeats itself after" in f.run("period", "nights.csv", "--shortest", 0.2).stdout, "text")


def test_durations_in_kernels(f):
    name = hourly(f)
    unit = f.json("period", name)["series"]["time_unit"]
    hours = {"h": 1, "d": 24, "min": 1 / 60, "s": 1 / 3600}[unit]
    words = f.json("nll", name, "--kernel", "2*matern32(lengthscale=3d)*cos(period=1 d)", "--noise", 0.1)
    numbers = f.json("nll", name, "--kernel", f"2*matern32(lengthscale={72 / hours!r})*cos(period={24 / hours!r})", "--noise", 0.1)
    require(words["nll"] == numbers["nll"] and words["kernel"] == numbers["kernel"], (words, numbers))
    flags = ["--kernel", "matern32*cos", "--mean", "linear"]
    found = f.json("fit", name, *flags, "--fix", "period=1440min", "--init", "lengthscale=20d", "-o", "m.json")
    require(found["period"] == 24 / hours, found["period"])
    require(f"period={24 / hours:g}" in found["kernel"] or f"period={24 / hours!r}" in found["kernel"], found["kernel"])
    f.run("predict", "m.json", "--grid", "2020-01-02,2020-01-03,6h")
    for kernel in ("matern32*cos(period=24h)", "sho(period=1y)", "matern32(lengthscale=7d)*cos"):
        f.json("fit", name, "--kernel", kernel)
    # A period that is not given is looked for.
    free = f.json("fit", hourly(f, "day.csv", week=0), *flags)
    require(abs(free["period"] * hours - 24) < 0.2, free["period"])
    two = f.json("fit", name, "--kernel", "sho + sho", "--mean", "linear")
    both = sorted(two[f"period_{i}"] * hours for i in (1, 2))
    require(abs(both[0] - 24) < 0.5 and abs(both[1] - 168) < 15, both)


def test_durations_that_are_none(f):
    name, plain = hourly(f), f.series()
    f.refused("fit", plain, "--kernel", "sho(period=24h)", says=["at 12", "24h", "plain numbers"])
    f.refused("fit", plain, "--kernel", "sho", "--init", "period=24h", says=["--init period", "plain numbers"])
    f.refused("nll", plain, "--kernel", "1*sho(period=24h, quality=2)", "--noise", 1, says="plain numbers")
    f.refused("fit", name, "--kernel", "sho(period=3 fortnights)", says=["at 12", "is not a duration"])
    f.refused("fit", name, "--kernel", "sho(period=0h)", says=["period is 0", "positive"])
    f.refused("fit", name, "--kernel", "sho(quality=2h)", says='expected "," or ")"')
    f.refused("fit", name, "--kernel", "sho", "--fix", "quality=2h", says="not a number")
    f.refused("fit", name, "--kernel", "sho", "--fix", "period=-2h", says="--fix period")
    f.refused("simulate", "--n", 5, "--gap", 1, "--kernel", "1*sho(period=1h, quality=1)", "--noise", 1, says=["1h", "timestamps"])
    f.refused("bandwidth", "--gap", 1, "--n", 5, "--kernel", "1*se(lengthscale=1h)", "--noise", 1, says=["1h", "timestamps"])


def test_mistakes(f):
    name = f.series()
    f.refused("period", says="FILE is required")
    f.refused("period", name, "--mean", "zero", says="--mean is constant or linear")
    f.refused("period", name, "--shortest", "24h", says=["--shortest", "plain numbers"])
    f.refused("period", name, "--shortest", "0", says=["--shortest", "positive"])
    f.refused("period", name, "--longest", "x", says="--longest")
    f.refused("period", name, "--shortest", 10, "--longest", 5, says="the shortest period, 10, is longer")
    f.refused("period", name, "--false-alarm", 1, says="--false-alarm")
    f.refused("period", name, "--peaks", 0, says="--peaks")
    f.refused("period", name, "-o", name, says=name)
    f.refused("period", hourly(f), "--longest", "3 fortnights", says=["--longest", "is not a duration"])
    f.write("short.csv", "t,y\n1,2\n2,3\n3,1\n")
    f.refused("period", "short.csv", says=["short.csv", "five observations"])
    f.write("line.csv", "t,y\n" + "".join(f"{i},{2 * i}\n" for i in range(20)))
    f.refused("period", "line.csv", says="straight line")
    f.refused("period", name, "-o", "no/such.csv", says="no/such.csv")


sys.exit(main(globals()))
