// The chart of the series and the chart of its residuals.
import { timeChart } from './chart.js';
import { Extremes, lowerBound } from './decimate.js';
import { byId, el, svg } from './dom.js';
import { number } from './format.js';
import { overview } from './overview.js';
import { drawBand, drawLevel, drawLine, drawMoment, drawPoints } from './paint.js';
import { colour } from './theme.js';

const Q = 1.959963984540054; // Φ(1.96) = 0.975
const withExtremes = (times, values) => ({ times, values, extremes: new Extremes(values) });

/// What is drawn and what can be switched off, with a sign that does not need colour.
const LAYERS = {
  points: { text: 'Observations', on: true, sign: () => [svg('circle', { cx: 6, cy: 8, r: 2.6, class: 'f-data' }), svg('circle', { cx: 15, cy: 5, r: 2.6, class: 'f-data' }), svg('circle', { cx: 23, cy: 10, r: 2.6, class: 'f-data' })] },
  mean: { text: 'Curve', on: true, sign: () => [svg('path', { d: 'M2 12 C10 0 18 16 26 4', class: 's-mean', fill: 'none', 'stroke-width': 2 })] },
  band: { text: '95 % of the curve', on: true, sign: () => [svg('rect', { x: 2, y: 3, width: 24, height: 10, class: 'f-band' }), svg('path', { d: 'M2 3H26M2 13H26', class: 's-mean', 'stroke-dasharray': '4 3' })] },
  observed: { text: '95 % of new observations', on: false, sign: () => [svg('path', { d: 'M2 3H26M2 13H26', class: 's-data', 'stroke-dasharray': '1.5 3', 'stroke-width': 1.5 })] },
};

export function curveSeries(curve, noise) {
  if (!curve) return null;
  const { times, mean, deviation } = curve;
  const at = (sign, v) => Float64Array.from(mean, (m, i) => m + sign * Q * Math.sqrt(deviation[i] ** 2 + v));
  const band = (v) => ({ times, low: withExtremes(times, at(-1, v)), high: withExtremes(times, at(1, v)) });
  let observed = null;
  return { mean: withExtremes(times, mean), band: band(0), deviation, noise, observed: () => (observed ??= band(noise)) };
}

function union(...ranges) {
  return ranges.reduce(([a, b], [low, high]) => [Math.min(a, low), Math.max(b, high)], [Infinity, -Infinity]);
}

function padded([low, high], share = 0.06) {
  if (!(high >= low)) return [-1, 1];
  const room = high > low ? share * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/// Indices to look at for [min, max], one more on either side so that lines that cross the view count.
const seen = (times, min, max) => [Math.max(0, lowerBound(times, min) - 1), Math.min(times.length, lowerBound(times, max) + 1)];

function nearest(times, t) {
  const i = lowerBound(times, t);
  return i > 0 && (i === times.length || t - times[i - 1] < times[i] - t) ? i - 1 : i;
}

function legend(layers, onSwitch) {
  return el('div', { class: 'legend', role: 'group', 'aria-label': 'What the chart shows' }, ...layers.map((name) => {
    const layer = LAYERS[name];
    const box = el('input', { type: 'checkbox', checked: layer.on, id: `layer-${name}` });
    box.addEventListener('change', () => { layer.on = box.checked; onSwitch(); });
    return el('label', {}, box, svg('svg', { viewBox: '0 0 28 16', width: 28, height: 16, 'aria-hidden': 'true' }, ...layer.sign()), layer.text);
  }));
}

function tools(view) {
  const button = (text, label, act) => {
    const made = el('button', { type: 'button', 'aria-label': label, title: label }, text);
    made.addEventListener('click', act);
    return made;
  };
  const reset = button('All', 'Show all', () => view.reset());
  const update = () => { reset.disabled = view.isFull; };
  view.onChange(update);
  update();
  return el('div', { class: 'tools', role: 'group', 'aria-label': 'Zoom and move' },
    button('←', 'Earlier', () => view.pan(-0.3)), button('→', 'Later', () => view.pan(0.3)),
    button('+', 'Zoom in', () => view.zoom(0.5)), button('−', 'Zoom out', () => view.zoom(2)), reset);
}

export function curveChart({ view, axis, names, points, curve, forecastFrom }) {
  if (forecastFrom !== null) LAYERS.observed.on = true; // a forecast is of observations
  const host = byId('curve-chart');
  const layers = [points && 'points', curve && 'mean', curve && 'band', curve && curve.noise > 0 && 'observed'].filter(Boolean);
  let chart = null;
  const redraw = () => { view.set(view.min, view.max); chart.redraw(false, false); };
  host.append(el('div', { class: 'bar' }, legend(layers, redraw), tools(view)));
  const plain = { shape: 'dot', get colour() { return colour('data'); } };

  chart = timeChart({
    host, view, axis, height: 400, label: 'Chart of the observations and the curve', timeLabel: names.time, valueLabel: names.value,
    extent(min, max) {
      const ranges = [];
      if (points && LAYERS.points.on) ranges.push(points.extremes.of(lowerBound(points.times, min), seen(points.times, min, max)[1]));
      for (const [name, bands] of [['band', () => curve.band], ['observed', () => curve.observed()], ['mean', () => ({ low: curve.mean, high: curve.mean })]]) {
        if (!curve || !LAYERS[name].on || !layers.includes(name)) continue;
        const [from, to] = seen(curve.mean.times, min, max);
        const { low, high } = bands();
        ranges.push([low.extremes.of(from, to)[0], high.extremes.of(from, to)[1]]);
      }
      return padded(union(...ranges));
    },
    draw(u) {
      if (curve && LAYERS.band.on) drawBand(u, curve.band, { fill: colour('band'), edge: colour('band-edge') });
      if (points && LAYERS.points.on) drawPoints(u, points, { colour: colour('data-dense'), markOf: () => plain, errors: points.errors });
      if (curve && LAYERS.observed.on && curve.noise > 0) drawBand(u, curve.observed(), { fill: null, edge: colour('data') });
      if (curve && LAYERS.mean.on) drawLine(u, curve.mean, { colour: colour('mean'), width: 1.8 });
      if (forecastFrom !== null) drawMoment(u, forecastFrom, { colour: colour('muted'), dash: [3, 3] });
    },
    readout(t) {
      const parts = [];
      const step = (view.max - view.min) / 1000;
      if (points) {
        const i = nearest(points.times, t);
        parts.push(axis.text(points.times[i], step), `${names.value || 'value'} ${number(points.values[i], 5)}`);
      } else parts.push(axis.text(t, step));
      if (curve) {
        const i = nearest(curve.mean.times, t);
        parts.push(`curve ${number(curve.mean.values[i], 5)} ± ${number(Q * curve.deviation[i], 2)} (95 %)`);
      }
      return parts.join('  ·  ');
    },
  });
  const shown = points ?? curve?.mean;
  if (shown) overview(host, view, shown);
  host.append(el('p', { class: 'hint', id: 'keys' },
    'Drag to zoom, shift-drag to move, double-click to see everything. With the chart in focus: ← → move, + − or the wheel zoom, 0 or Home shows everything.'));
  return chart;
}

/// One term's share of the curve with its band, over the same times as the others.
export function componentChart({ host, view, axis, names, label, curve, forecastFrom }) {
  return timeChart({
    host, view, axis, height: 170, label, timeLabel: names.time, valueLabel: names.value,
    extent(min, max) {
      const [from, to] = seen(curve.mean.times, min, max);
      const [low, high] = curve.mean.extremes.of(from, to), room = high - low;
      const [least, most] = [curve.band.low.extremes.of(from, to)[0], curve.band.high.extremes.of(from, to)[1]];
      // A band that is wide because nobody knows the level must not flatten the curve.
      return padded(room > 0 ? [Math.max(least, low - room), Math.min(most, high + room)] : [least, most]);
    },
    draw(u) {
      drawBand(u, curve.band, { fill: colour('band'), edge: colour('band-edge') });
      drawLevel(u, 0, { colour: colour('line') });
      drawLine(u, curve.mean, { colour: colour('mean'), width: 1.6 });
      if (forecastFrom !== null) drawMoment(u, forecastFrom, { colour: colour('muted'), dash: [3, 3] });
    },
    readout(t) {
      const i = nearest(curve.mean.times, t);
      return `${axis.text(t, (view.max - view.min) / 1000)}  ·  ${number(curve.mean.values[i], 4)} ± ${number(Q * curve.deviation[i], 2)} (95 %)`;
    },
  });
}

export function residualChart({ view, axis, names, points, standardised }) {
  const series = withExtremes(points.times, standardised);
  const usual = { shape: 'dot', get colour() { return colour('data'); } };
  const unusual = { shape: 'triangle', get colour() { return colour('warn'); } };
  return timeChart({
    host: byId('residual-chart'), view, axis, height: 190, label: 'Chart of the residuals; it shows the same times as the chart of the curve',
    timeLabel: names.time, valueLabel: 'standard deviations',
    extent(min, max) {
      const [low, high] = series.extremes.of(lowerBound(points.times, min), seen(points.times, min, max)[1]);
      const most = Math.max(3.2, -low, high);
      return padded([-most, most], 0.04);
    },
    draw(u) {
      drawLevel(u, 0, { colour: colour('line') });
      drawPoints(u, series, { colour: colour('data-dense'), markOf: (z) => (Math.abs(z) > Q ? unusual : usual) });
      for (const level of [-Q, Q]) drawLevel(u, level, { colour: colour('mean'), dash: [6, 4] });
    },
    readout(t) {
      const i = nearest(points.times, t);
      return `${axis.text(points.times[i], (view.max - view.min) / 1000)}  ·  ${number(standardised[i], 3)} standard deviations`;
    },
  });
}
