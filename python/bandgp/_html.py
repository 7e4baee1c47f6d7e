# SPDX-License-Identifier: Apache-2.0
"""A fit at a glance, as text and in a notebook: parameters, exactness, and a small picture without any library."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.linalg import LinAlgError

from . import _core
from ._results import Array, Certificate

if TYPE_CHECKING:
    from ._gp import GP

WIDTH, HEIGHT, POINTS = 640, 170, 640
SHOWS = 0.01  # nats of rounding from which it would be wrong to call the answer exact

STYLE = """<style>
.bandgp{font:13px/1.45 system-ui,sans-serif;max-width:660px;border:1px solid rgba(128,128,128,.35);border-radius:8px;
padding:10px 14px;margin:4px 0}
.bandgp h4{font-size:14px;margin:0 0 6px;font-weight:600}
.bandgp h4 span{font-weight:400;opacity:.7}
.bandgp svg{display:block;width:100%;height:auto;margin:2px 0 8px}
.bandgp dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 14px;margin:0}
.bandgp dt{opacity:.65;margin:0}.bandgp dd{margin:0;font-variant-numeric:tabular-nums}
.bandgp .good{color:#1a7f4b}.bandgp .doubtful{color:#b26a00}
</style>"""


def summary_rows(gp: GP) -> list[tuple[str, str]]:
    series = gp.series_
    unit = f" {series['time_unit']}" if series["time_unit"] else ""
    changes = [f"{series[name]} {text}" for name, text in
               (("dropped", "dropped (not finite)"), ("thinned", "thinned out"))
               if series[name]]
    if series["merged"]:
        changes.append("1 repeats an earlier time" if series["merged"] == 1 else f"{series['merged']} repeat an earlier time")
    if not series["sorted"]:
        changes.append("were not in time order, now sorted")
    rows = [("data", ", ".join([f"{series['used']} observations", *changes])),
            ("model", f"{gp.kernel}, {gp.mean} mean")]
    for (name, value), kind in zip(gp.parameters_.items(), _core.parameter_units(gp.kernel_)):
        error = gp.standard_errors_.get(name, np.nan)
        rows.append((name, f"{value:.6g}" + (f" ± {float(f'{error:.1e}'):g}" if np.isfinite(error) else "")
                     + (unit if kind == "time" else "")))
    certificate = gp.certificate_
    rows += [("NLL", f"{gp.nll_:.10g}"),
             ("exactness", "another model than the exact GP: nothing to certify" if certificate is None else _exactness(certificate, gp.rounding_)),
             ("band", f"{gp.method_}{'' if gp.bandwidth_ is None else f', {gp.bandwidth_} neighbours'}; "
                     f"{gp.evaluations_} evaluations in {gp.seconds_:.3g} s"),
             ("status", gp.message_ if gp.status_ != "converged" else "converged")]
    return rows + [("but", remark) for remark in gp.remarks_]


def _exactness(certificate: Certificate, rounding: float) -> str:
    """What the certificate says, and whether rounding lets it."""
    if certificate.holds and certificate.rho == 0 and not rounding <= SHOWS:
        return f"nothing was left out of the covariance, but rounding keeps this from being the exact GP: about {rounding:.1g} nats"
    return str(certificate)


def html(gp: GP) -> str:
    if gp._fitted is None:
        return f'{STYLE}<div class="bandgp"><h4>{escape(repr(gp))} <span>not fitted</span></h4></div>'
    certificate = gp.certificate_
    fine = gp.status_ == "converged" and (certificate is None or certificate.holds)
    kind = {"status": "good" if fine else "doubtful", "but": "doubtful"}
    items = "".join(f'<dt>{escape(name)}</dt><dd class="{kind.get(name, "")}">{escape(text)}</dd>'
                    for name, text in summary_rows(gp))
    return f'{STYLE}<div class="bandgp"><h4>{escape(gp._constructor())}</h4>{picture(gp)}<dl>{items}</dl></div>'


def picture(gp: GP) -> str:
    """Data, curve and its 95 % band as SVG; nothing where there is no posterior."""
    fitted = gp._fit
    report = fitted.series.report
    times = np.linspace(report["first_time"], report["last_time"], POINTS)
    try:
        mean, variance, _ = fitted.predict(times, True)
    except (LinAlgError, ValueError):
        return ""
    std = np.sqrt(np.maximum(variance, 0))
    low, high = mean - 1.96 * std, mean + 1.96 * std
    columns, bottoms, tops = _data_ranges(fitted.series.times, fitted.series.values, times[0], times[-1])
    floor = min([low.min(), *bottoms])
    scale = (HEIGHT - 8) / (max([high.max(), *tops]) - floor or 1.0)

    def y(value: Array) -> Array:
        return np.asarray(HEIGHT - 4 - (value - floor) * scale)

    x = np.linspace(0, WIDTH, POINTS)
    band = _path(np.concatenate([x, x[::-1]]), np.concatenate([y(high), y(low)[::-1]])) + "Z"
    # A stretch of data that shares a column of pixels is one stroke from its smallest to its largest value.
    strokes = "".join(f"M{c:.1f} {b + 0.8:.1f}V{t - 0.8:.1f}" for c, b, t in zip(columns, y(bottoms), y(tops)))
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="data, curve and its 95 % band">'
            f'<path d="{strokes}" stroke="currentColor" stroke-opacity=".38" stroke-width="1.6" fill="none"/>'
            f'<path d="{band}" fill="#3b82f6" fill-opacity=".3"/>'
            f'<path d="{_path(x, y(mean))}" stroke="#2563eb" stroke-width="1.4" fill="none"/></svg>')


def _path(x: Array, y: Array) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y))


def _data_ranges(times: Array, values: Array, first: float, last: float) -> tuple[Array, Array, Array]:
    """Pixel columns that hold data, with the smallest and largest value of each."""
    if times.size == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    column = np.rint((times - first) / ((last - first) or 1.0) * WIDTH).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    return column[starts].astype(float), np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
