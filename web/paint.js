// Drawing on uPlot's canvas: as points and lines while there is room for each, as columns of pixels from then on.
import { eachColumn, lowerBound } from './decimate.js';

/// Up to this many marks are drawn one by one, and up to that many they are round.
const MOST_MARKS = 20000, MOST_ROUND = 4000;

/// Pixels from numbers, for the area that a chart draws in.
export function frame(u) {
  const { left, top, width, height } = u.bbox;
  const { min, max } = u.scales.x;
  const { min: low, max: high } = u.scales.y;
  return {
    left, top, width, height, min, max, low, high, ratio: devicePixelRatio || 1,
    x: (t) => left + (t - min) / (max - min) * width,
    y: (v) => top + (high - v) / (high - low) * height,
  };
}

/// Runs `draw(context)` with nothing leaking out of the chart's area nor into what is drawn next.
export function inside(u, draw) {
  const { ctx } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

const MARKS = {
  dot(path, x, y, r) { path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI); },
  square(path, x, y, r) { path.rect(x - r, y - r, 2 * r, 2 * r); },
  triangle(path, x, y, r) { path.moveTo(x, y - 1.3 * r); path.lineTo(x + 1.2 * r, y + r); path.lineTo(x - 1.2 * r, y + r); path.closePath(); },
};

/// `series` is {times, values, extremes}. Where two marks share a pixel a bar from the smallest to the largest stands.
/// markOf(value) names the mark of a value and its colour, where marks are drawn one by one.
export function drawPoints(u, series, { colour, markOf, errors }) {
  const f = frame(u);
  const { times, values, extremes } = series;
  const from = lowerBound(times, f.min), to = lowerBound(times, f.max, from);
  const number = to - from + (to < times.length && times[to] === f.max ? 1 : 0);
  const cssWidth = f.width / f.ratio;
  inside(u, (ctx) => {
    if (number > MOST_MARKS) {
      ctx.fillStyle = colour;
      drawColumns(ctx, f, times, (i, j) => extremes.of(i, j)[0], (i, j) => extremes.of(i, j)[1], 1.5 * f.ratio);
      return;
    }
    const radius = f.ratio * Math.min(3, Math.max(0.9, 0.4 * cssWidth / Math.max(1, number) + 0.9));
    if (errors && number < cssWidth / 2) {
      ctx.strokeStyle = colour;
      ctx.globalAlpha = 0.45;
      ctx.lineWidth = f.ratio;
      ctx.beginPath();
      for (let i = from; i < from + number; i++) {
        const x = f.x(times[i]);
        ctx.moveTo(x, f.y(values[i] - errors[i]));
        ctx.lineTo(x, f.y(values[i] + errors[i]));
      }
      ctx.stroke();
      ctx.globalAlpha = 1;
    }
    const paths = new Map();
    for (let i = from; i < from + number; i++) {
      const mark = markOf(values[i]);
      if (!paths.has(mark)) paths.set(mark, new Path2D());
      MARKS[number < MOST_ROUND || mark.shape !== 'dot' ? mark.shape : 'square'](paths.get(mark), f.x(times[i]), f.y(values[i]), radius);
    }
    for (const [mark, path] of paths) {
      ctx.fillStyle = mark.colour;
      ctx.fill(path);
    }
  });
}

/// Indices of the vertices in view, one more on either side; and whether that is more than one by one are worth drawing.
function inView(f, times) {
  const from = Math.max(0, lowerBound(times, f.min) - 1);
  const to = Math.min(times.length, lowerBound(times, f.max) + 1);
  return { from, to, dense: to - from > 3 * f.width };
}

/// A bar for every column of pixels, from low(i, j) to high(i, j) of the indices in it.  With `joined`, a curve: what
/// lies between two columns that have vertices and others that have none is filled in.
function drawColumns(ctx, f, times, low, high, least, joined = false) {
  let last = null;
  eachColumn(times, f.min, f.max, Math.round(f.width), (column, i, j) => {
    const top = f.y(high(i, j)), bottom = f.y(low(i, j));
    ctx.fillRect(f.left + column, Math.min(top, (top + bottom - least) / 2), 1, Math.max(bottom - top, least));
    if (joined && last !== null && column > last.column + 1) {
      const [from, to] = [f.left + last.column + 1, f.left + column];
      const [a, b] = [last.index, i].map((k) => [f.y(high(k, k + 1)) - least / 2, f.y(low(k, k + 1)) + least / 2]);
      ctx.beginPath();
      ctx.moveTo(from, a[0]);
      ctx.lineTo(to, b[0]);
      ctx.lineTo(to, b[1]);
      ctx.lineTo(from, a[1]);
      ctx.fill();
    }
    last = { column, index: j - 1 };
  });
}

export function drawLine(u, { times, values, extremes }, { colour, width = 1.6, dash = [] }) {
  const f = frame(u);
  const { from, to, dense } = inView(f, times);
  inside(u, (ctx) => {
    if (dense) {
      ctx.fillStyle = colour;
      ctx.globalAlpha = 0.6; // a curve that fills an area must not hide what lies below
      drawColumns(ctx, f, times, (i, j) => extremes.of(i, j)[0], (i, j) => extremes.of(i, j)[1], 1.5 * f.ratio, true);
      return;
    }
    const path = new Path2D();
    for (let i = from; i < to; i++) path.lineTo(f.x(times[i]), f.y(values[i]));
    ctx.strokeStyle = colour;
    ctx.lineWidth = width * f.ratio;
    ctx.lineJoin = 'round';
    ctx.setLineDash(dash.map((d) => d * f.ratio));
    ctx.stroke(path);
  });
}

/// The area between two curves over the same times.
export function drawBand(u, { times, low, high }, { fill, edge }) {
  const f = frame(u);
  const { from, to, dense } = inView(f, times);
  inside(u, (ctx) => {
    if (dense) {
      ctx.fillStyle = fill ?? edge;
      if (!fill) ctx.globalAlpha = 0.25;
      drawColumns(ctx, f, times, (i, j) => low.extremes.of(i, j)[0], (i, j) => high.extremes.of(i, j)[1], f.ratio, true);
      return;
    }
    const area = new Path2D(), top = new Path2D(), bottom = new Path2D();
    for (let i = from; i < to; i++) {
      const x = f.x(times[i]);
      area.lineTo(x, f.y(high.values[i]));
      top.lineTo(x, f.y(high.values[i]));
      bottom.lineTo(x, f.y(low.values[i]));
    }
    for (let i = to; i-- > from;) area.lineTo(f.x(times[i]), f.y(low.values[i]));
    if (fill) { ctx.fillStyle = fill; ctx.fill(area); }
    ctx.strokeStyle = edge;
    ctx.lineWidth = f.ratio;
    // Dashes along a line that goes up and down a thousand times cost more than all the rest.
    if (to - from < f.width / 2) ctx.setLineDash([4 * f.ratio, 3 * f.ratio]);
    ctx.stroke(top);
    ctx.stroke(bottom);
  });
}

/// A horizontal line across the chart.
export function drawLevel(u, value, { colour, dash = [] }) {
  const f = frame(u);
  inside(u, (ctx) => {
    ctx.strokeStyle = colour;
    ctx.lineWidth = f.ratio;
    ctx.setLineDash(dash.map((d) => d * f.ratio));
    ctx.beginPath();
    ctx.moveTo(f.left, f.y(value));
    ctx.lineTo(f.left + f.width, f.y(value));
    ctx.stroke();
  });
}

/// A vertical line at one time.
export function drawMoment(u, time, { colour, dash = [] }) {
  const f = frame(u);
  inside(u, (ctx) => {
    ctx.strokeStyle = colour;
    ctx.lineWidth = f.ratio;
    ctx.setLineDash(dash.map((d) => d * f.ratio));
    ctx.beginPath();
    ctx.moveTo(f.x(time), f.top);
    ctx.lineTo(f.x(time), f.top + f.height);
    ctx.stroke();
  });
}
