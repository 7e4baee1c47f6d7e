# SPDX-License-Identifier: Apache-2.0
"""Whatever holds numbers or times becomes contiguous doubles: NumPy, lists, pandas, polars, Arrow.

What is already contiguous and double is used where it lies. Dates become units since the midnight (UTC) before the
first of them, as the command line does it.
"""

from __future__ import annotations

import datetime
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._results import Array

UNIT_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "y": 31557600}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def numbers(values: Any, name: str) -> Array:
    """One-dimensional (a single column counts) and double; None, NA and masked entries are NaN."""
    array = _as_numpy(values)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} has the type {array.dtype}, must be numbers")
    array = _one_column(array, name)
    try:
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not all numbers: {error}") from None
    return array


def are_dates(values: Any) -> bool:
    return _as_numpy(values).dtype.kind == "M"


def new_times(values: Any, unit: Optional[str] = None) -> tuple[Array, _core.TimeAxis]:
    """Times to fit at, and what they mean."""
    array = _as_numpy(values)
    if array.dtype.kind != "M":
        if unit is not None:
            raise ValueError(f"time_unit={unit!r} is for dates, and these times are plain numbers")
        return numbers(array, "t"), _core.TimeAxis()
    ticks, per_second = _ticks(_one_column(array, "t"))
    known = ticks[ticks != np.iinfo(np.int64).min]
    if unit is not None and unit not in UNIT_SECONDS:
        raise ValueError(f"time_unit is {', '.join(UNIT_SECONDS)}, not {unit!r}")
    day = 86400 * per_second
    origin = int(known.min() // day) * 86400 if known.size else 0
    whole_days = bool(np.all(known % day == 0))
    zone = "" if zone_of(values) is None else "Z"
    digits = 0
    while digits < 9 and per_second >= 10**digits and np.any(known % max(per_second // 10**digits, 1)):
        digits += 1
    axis = _core.TimeAxis(unit=unit or _readable_unit(known, per_second),
                          format="%Y-%m-%d" if whole_days and not zone else "%Y-%m-%dT%H:%M:%S" + zone,
                          origin=origin, digits=digits)
    return axis.times_of(ticks, per_second), axis


def times_on(axis: _core.TimeAxis, values: Any, name: str = "t") -> Array:
    """Times to predict at, on the axis of a fit."""
    array = _as_numpy(values)
    if array.dtype.kind == "M":
        if not axis.is_calendar:
            raise ValueError(f"{name} are dates, and the model was fitted at plain numbers")
        result = axis.times_of(*_ticks(_one_column(array, name)))
    elif axis.is_calendar:
        raise ValueError(f"{name} are plain numbers, and the model was fitted at dates: give datetimes")
    else:
        result = numbers(array, name)
    if not np.all(np.isfinite(result)):
        place = int(np.flatnonzero(~np.isfinite(result))[0])
        raise ValueError(f"{name}[{place}] is {array.reshape(-1)[place]}, must be finite")
    return result


def duration(length: Any) -> str:
    """A length of time as text: a number of units of time, "48h", or a timedelta."""
    if isinstance(length, str):
        return length
    if isinstance(length, (datetime.timedelta, np.timedelta64)):
        return f"{float(np.timedelta64(length) / np.timedelta64(1, 's'))}s"
    return repr(float(length))


def to_dates(axis: _core.TimeAxis, times: Array, *, given: bool = False) -> NDArray[Any]:
    """Times of a fit as the user knows them: datetime64 where they were dates.

    `given`: they are the data's own, which have so many digits of a second and no more; a double since the origin may
    be some nanoseconds off.
    """
    if not axis.is_calendar:
        return times
    unit = UNIT_SECONDS[axis.unit]
    far = max(abs(axis.origin + float(t) * unit) for t in (times.min(), times.max())) if times.size else 0.0
    per_second, resolution = (10**9, "ns") if far < 9.2e9 else (10**6, "us")  # nanoseconds end in 2262
    whole = np.floor(times)
    ticks = whole.astype(np.int64) * unit + axis.origin
    rest = np.rint((times - whole) * (unit * per_second)).astype(np.int64)
    if given:
        digit = max(per_second // 10**axis.digits, 1)
        rest = (rest + digit // 2) // digit * digit
    return (ticks * per_second + rest).astype(f"datetime64[{resolution}]")


def zone_of(values: Any) -> Any:
    """The time zone of dates, as pandas takes it; None where they have none. Several zones at once count as UTC."""
    kind = getattr(values, "dtype", None) or getattr(values, "type", None)  # NumPy, pandas, polars; Arrow
    zone = getattr(kind, "tz", None) or getattr(kind, "time_zone", None)
    if zone is None and (isinstance(values, (list, tuple)) or kind == object or hasattr(kind, "pyarrow_dtype")):
        zones = {getattr(item, "tzinfo", None) for item in np.asarray(values, dtype=object).reshape(-1)} - {None}
        zone = zones.pop() if len(zones) == 1 else datetime.timezone.utc if zones else None
    return zone


def zone_on(axis: _core.TimeAxis) -> Optional[datetime.tzinfo]:
    """The time zone of a file's times, if it tells one."""
    if axis.is_calendar and axis.format.endswith(("Z", "%z", "%:z")):
        return datetime.timezone(datetime.timedelta(minutes=axis.zone))
    return None


def index_of(values: Any) -> Any:
    """The index of a pandas Series; None for anything else."""
    index = getattr(values, "index", None)
    return index if index is not None and not callable(index) and hasattr(values, "to_numpy") else None


def name_of(values: Any) -> str:
    name = getattr(values, "name", None)
    return name if isinstance(name, str) else ""


def _as_numpy(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind == "M":
            return np.ma.filled(values, np.datetime64("NaT"))
        if values.dtype != object:
            return np.ma.filled(values.astype(float), np.nan)
        objects = np.array(values.data)
        objects[np.ma.getmaskarray(values)] = None
        values = objects
    if isinstance(values, np.ndarray):
        return _of_objects(values) if values.dtype == object else values
    dtype = getattr(values, "dtype", None)
    if str(dtype).startswith("period"):  # pandas
        values = (values.dt if hasattr(values, "dt") else values).to_timestamp()
    elif getattr(dtype, "tz", None) is not None:  # pandas, with a time zone
        accessor = values.dt if hasattr(values, "dt") else values
        values = accessor.tz_convert("UTC")
        values = (values.dt if hasattr(values, "dt") else values).tz_localize(None)
    elif str(dtype)[:1] in "IUF" and hasattr(dtype, "na_value"):  # pandas' Int64, Float64 with NA
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
    if hasattr(values, "to_numpy"):
        try:
            array = np.asarray(values.to_numpy())
        except ValueError:  # Arrow arrays with nulls
            array = np.asarray(values.to_numpy(zero_copy_only=False))
    else:
        array = np.asarray(values)
    return _of_objects(array) if array.dtype == object else array


def _of_objects(array: NDArray[Any]) -> NDArray[Any]:
    """datetime and date objects, with or without a zone, as datetime64 in UTC; anything else as it is. What is missing
    (None, NaN, NaT, NA) becomes NaT among dates and NaN elsewhere."""
    flat = array.reshape(-1)
    missing = np.fromiter((_is_missing(item) for item in flat), dtype=bool, count=flat.size)
    known = flat[~missing]
    if not known.size or not isinstance(known[0], (datetime.date, np.datetime64)):
        if missing.any():
            flat = flat.copy()
            flat[missing] = np.nan
        return flat.reshape(array.shape)

    def stamp(item: Any) -> Any:
        if isinstance(item, datetime.datetime) and item.tzinfo is not None:
            item = item.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return item.to_datetime64() if hasattr(item, "to_datetime64") else item  # pandas' has nanoseconds

    stamps = [stamp(item) for item in known]
    fine = any(isinstance(item, np.datetime64) and np.datetime_data(item)[0] == "ns" for item in stamps)
    dates = np.full(flat.size, np.datetime64("NaT"), dtype="datetime64[ns]" if fine else "datetime64[us]")
    dates[~missing] = np.array(stamps, dtype=dates.dtype)
    return dates.reshape(array.shape)


def _is_missing(item: Any) -> bool:
    try:
        return item is None or bool(item != item)
    except TypeError:  # pandas' NA does not say whether it is itself
        return True


def _one_column(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, it has the shape {array.shape}")
    return array


def _ticks(array: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    unit = np.datetime_data(array.dtype)[0]
    if unit not in PER_SECOND:
        unit = "s" if unit in ("Y", "M", "W", "D", "h", "m", "generic") else "ns"
    ticks = np.ascontiguousarray(array.astype(f"datetime64[{unit}]")).view(np.int64)
    return ticks, PER_SECOND[unit]


def _readable_unit(ticks: NDArray[np.int64], per_second: int) -> str:
    """The longest unit that is no longer than 30 typical gaps, as src/bandgp/io/time_column.cpp has it."""
    gaps = np.abs(np.diff(ticks))
    gaps = gaps[gaps > 0]
    if gaps.size == 0:
        return "d"
    typical = np.partition(gaps, gaps.size // 2)[gaps.size // 2] / per_second
    return next((unit for unit in ("y", "d", "h", "min") if UNIT_SECONDS[unit] <= 30 * typical), "s")
