// Small plots as SVG: sharp on paper, coloured by the page's style.
import { el, svg } from './dom.js';
import { stepped } from './format.js';

const MARGIN = { left: 50, right: 12, top: 8, bottom: 40 };
const DIGIT = 7; // is about as wide as this

/// Round numbers inside [low, high], about `wanted` of them, and their distance.
export function ticks(low, high, wanted = 5) {
  const rough = (high - low) / wanted;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough * (1 - 1e-9));
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) list.push(i * step);
  return { list, step };
}

/// A frame with axes. `x` and `y` are {range: [low, high], label, log?, ticks?: [[value, text], …]}.
export function plot({ width = 340, height = 250, x, y, label }) {
  const marksOf = (axis, wanted) => {
    if (axis.ticks) return axis.ticks;
    if (axis.log) return decades(axis.range);
    const { list, step } = ticks(...axis.range, wanted);
    return list.map((v) => [v, stepped(v, step)]);
  };
  const marks = marksOf(y, 5);
  const left = Math.max(MARGIN.left, 26 + DIGIT * Math.max(0, ...marks.map(([, text]) => text.length)));
  const area = { left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const place = ({ range: [low, high], log }, from, to) => {
    const f = log ? Math.log10 : (v) => v;
    return (v) => from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
  };
  const toX = place(x, area.left, area.right), toY = place(y, area.bottom, area.top);
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'small', role: 'img', 'aria-label': label });
  for (const [v, text] of marks) {
    root.append(svg('line', { x1: area.left, x2: area.right, y1: toY(v), y2: toY(v), class: 's-grid' }),
      svg('text', { x: area.left - 6, y: toY(v) + 4, 'text-anchor': 'end' }, text));
  }
  for (const [v, text] of marksOf(x, 6)) {
    root.append(svg('line', { x1: toX(v), x2: toX(v), y1: area.bottom, y2: area.bottom + 4, class: 's-line' }),
      svg('text', { x: toX(v), y: area.bottom + 17, 'text-anchor': 'middle' }, text));
  }
  root.append(svg('line', { x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom, class: 's-line' }),
    svg('text', { x: (area.left + area.right) / 2, y: height - 6, 'text-anchor': 'middle', class: 'axis' }, x.label));
  if (y.label) {
    root.append(svg('text', { transform: `translate(11 ${(area.top + area.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'axis' }, y.label));
  }
  const add = (tag, attributes) => root.append(svg(tag, attributes));
  const path = (points) => points.map(([a, b], i) => `${i ? 'L' : 'M'}${toX(a).toFixed(2)} ${toY(b).toFixed(2)}`).join('');
  return { root, area, toX, toY, add, path };
}

function decades([low, high]) {
  const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from) / 5));
  const list = [];
  for (let k = from; k <= to; k++) if ((k - from) % every === 0) list.push([10 ** k, decadeText(k)]);
  return list;
}
const decadeText = (k) => (k >= 0 && k <= 4 ? String(10 ** k) : k < 0 && k >= -2 ? (10 ** k).toFixed(-k) : `10${[...String(k)].map((c) => ({ '-': '⁻' }[c] ?? '⁰¹²³⁴⁵⁶⁷⁸⁹'[c])).join('')}`);

/// A plot with its heading, how to read it, and what it says here.
export const figure = (title, how, says, root) =>
  el('figure', {}, el('h3', {}, title), root, el('figcaption', {}, how, says ? el('strong', {}, ` ${says}`) : null));
