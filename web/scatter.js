// Marks on two axes, straight or logarithmic: series are told apart by the shape of their marks and the dashes of their
// lines, not by colour alone.
import { el, svg } from './dom.js';
import { number, stepped } from './format.js';
import { plot, ticks } from './plot.js';

const SHAPES = [
  'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0', 'M0 -4.8L4.6 3.4H-4.6Z', 'M-3.7 -3.7H3.7V3.7H-3.7Z', 'M0 -5.2L5.2 0L0 5.2L-5.2 0Z',
  'M0 4.8L4.6 -3.4H-4.6Z', 'M-1.6 -4.8H1.6V-1.6H4.8V1.6H1.6V4.8H-1.6V1.6H-4.8V-1.6H-1.6Z',
  'M-4.4 -2.4L-2.4 -4.4L0 -2L2.4 -4.4L4.4 -2.4L2 0L4.4 2.4L2.4 4.4L0 2L-2.4 4.4L-4.4 2.4L-2 0Z',
  'M0 -6.4L1.7 -2L6.3 -2L2.6 0.9L3.9 5.3L0 2.7L-3.9 5.3L-2.6 0.9L-6.3 -2L-1.7 -2Z',
  'M-2.5 -4.4H2.5L5 0L2.5 4.4H-2.5L-5 0Z', 'M-4.6 -4L4.6 4V-4L-4.6 4Z',
];
const DASHES = [null, '7 3', '2 3', '9 3 2 3', '4 4', '1 3', '12 4', null, '6 2', '3 1'];
const WIDTH = 500, HEIGHT = 360;

const shape = (mark, hollow, transform) => svg('path', { d: SHAPES[mark], class: `mark${hollow ? ' hollow' : ''}`, transform });
const line = (mark, d) => svg('path', { d, class: 'joined', 'stroke-dasharray': DASHES[mark] });

/// 1, 2 and 5 times the powers of ten inside a range, or only the powers where that is plenty; as on a straight axis where
/// those are too few.
export function logTicks([low, high]) {
  const factors = Math.log10(high / low) > 4 ? [1] : Math.log10(high / low) > 2 ? [1, 3] : [1, 2, 5];
  const all = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++) for (const f of factors) all.push(f * 10 ** k);
  let inside = all.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  if (inside.length < 3) { // a narrow range
    const { list, step } = ticks(low, high);
    return list.filter((v) => v > 0).map((v) => [v, stepped(v, step)]);
  }
  if (inside.length > 7) inside = inside.filter((_, i) => i % Math.ceil(inside.length / 7) === 0);
  return inside.map((v) => [v, number(v, 1)]);
}

/// What the numbers need, and some room around them.
export function rangeOf(values, log) {
  let low = Math.min(...values), high = Math.max(...values);
  if (values.length === 0) [low, high] = [1, 10];
  if (log) {
    const room = Math.max(0.08 * Math.log10(high / low), 0.04);
    return [low * 10 ** -room, high * 10 ** room];
  }
  const room = 0.08 * (high - low) || Math.max(1e-9, 0.1 * Math.abs(high));
  return [low - room, high + room];
}

/// `y.most`, if there is one, is as high as the chart goes: what lies above stands on its edge, with an arrow.
/// {title, x: {label, log}, y, series: [{name, mark, line, points: [{x, y, label, hollow}]}], rules: [{at, label}]} → SVG
export function scatter({ title, x, y, series, rules }) {
  const points = series.flatMap((s) => s.points);
  const cut = (v) => Math.min(v, y.most ?? Infinity);
  const axis = ({ label, log }, values) => {
    const range = rangeOf(values, log);
    return { label, log, range, ...(log ? { ticks: logTicks(range) } : {}) };
  };
  const p = plot({ width: WIDTH, height: HEIGHT, label: `${title}: ${y.label} by ${x.label}`,
    x: axis(x, [...points.map((q) => q.x), ...rules.map((r) => r.at)]), y: axis(y, points.map((q) => cut(q.y))) });
  rules.forEach(({ at, label }, i) => {
    const place = p.toX(at).toFixed(1);
    p.add('path', { d: `M${place} ${p.area.top}V${p.area.bottom}`, class: 's-warn', 'stroke-dasharray': DASHES[i % DASHES.length] });
    const side = i % 2 ? 4 : -11; // neighbours write to different sides, and the next two lower
    p.root.append(svg('text', { class: 'rule', transform: `translate(${Number(place) + side} ${p.area.top + (i < 2 ? 4 : 84)}) rotate(90)` }, label));
  });
  const taken = []; // boxes of the tags so far: one that would cover another is left to the mark's title
  const isFree = (box) => {
    const free = !taken.some((b) => box.x < b.x + b.width && b.x < box.x + box.width && Math.abs(box.y - b.y) < 11);
    if (free) taken.push(box);
    return free;
  };
  series.forEach((s, row) => {
    const group = svg('g', { class: `mark-${s.mark}` });
    if (s.line && s.points.length > 1) group.append(line(s.mark, p.path(s.points.map((q) => [q.x, cut(q.y)]))));
    s.points.forEach((q, i) => {
      const at = `translate(${p.toX(q.x).toFixed(1)} ${p.toY(cut(q.y)).toFixed(1)})`;
      const above = q.y > cut(q.y);
      const mark = shape(s.mark, q.hollow, at);
      mark.append(svg('title', {}, `${s.name}${q.label ? ` ${q.label}` : ''}: ${number(q.x, 3)}, ${number(q.y, 4)}${q.hollow ? ' (not to be relied on)' : ''}`));
      group.append(mark);
      if (above || (q.label && (i === 0 || i === s.points.length - 1))) {
        const end = p.toX(q.x) > 0.75 * WIDTH, text = above ? `${q.label}↑` : q.label;
        const x = p.toX(q.x) + (end ? -8 : 8), y = p.toY(cut(q.y)) + (row % 2 ? 15 : -6), width = 6.2 * text.length;
        if (!isFree({ x: end ? x - width : x, y, width })) return;
        group.append(svg('text', { class: 'tag', x: x.toFixed(1), y: y.toFixed(1), 'text-anchor': end ? 'end' : 'start' }, text));
      }
    });
    p.root.append(group);
  });
  return p.root;
}

/// Marks and names, then notes on what they mean.
export function legend(series, notes) {
  return el('ul', { class: 'keys' }, ...series.map((s) => {
    const key = svg('svg', { viewBox: '0 0 34 14', class: `mark-${s.mark}`, 'aria-hidden': 'true' });
    if (s.line) key.append(line(s.mark, 'M0 7H34'));
    key.append(shape(s.mark, false, 'translate(17 7)'));
    return el('li', {}, key, s.name);
  }), ...notes.map((text) => el('li', {}, text)));
}
