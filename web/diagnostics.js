// Is it noise? Three looks at the residuals.
import { byId } from './dom.js';
import { number, percent } from './format.js';
import { density, quantile } from './normal.js';
import { figure, plot } from './plot.js';

const Q = 1.959963984540054;

function quantilePlot({ count, rank, quantile: values }) {
  const expected = rank.map((r) => quantile((r + 0.5) / count));
  const most = Math.max(3, Math.ceil(2 * Math.max(...expected.map(Math.abs), ...values.map(Math.abs))) / 2);
  const p = plot({ x: { range: [-most, most], label: 'expected of white noise' }, y: { range: [-most, most], label: 'found' }, label: 'Quantiles of the whitened residuals against those of white noise' });
  // Where a quantile falls 95 times in 100: its standard deviation is √(p(1−p)/n)/φ.
  const spread = rank.map((r, i) => { const q = (r + 0.5) / count; return Q * Math.sqrt(q * (1 - q) / count) / density(expected[i]); });
  const limit = (v) => Math.max(-most, Math.min(most, v));
  const upper = expected.map((x, i) => [x, limit(x + spread[i])]), lower = expected.map((x, i) => [x, limit(x - spread[i])]);
  p.add('path', { d: `${p.path([...upper, ...lower.reverse()])}Z`, class: 'f-band' });
  p.add('path', { d: p.path([[-most, -most], [most, most]]), class: 's-mean', 'stroke-dasharray': '5 4' });
  p.add('path', { d: values.map((v, i) => `M${p.toX(expected[i]).toFixed(1)} ${p.toY(v).toFixed(1)}h0`).join(''), class: 's-data dots' });
  const outside = values.filter((v, i) => Math.abs(v - expected[i]) > spread[i]).length;
  return figure('Quantiles', 'On the dashed line, the whitened residuals are normal; tails that leave the shaded area are heavier or lighter than the model thinks.',
    `${percent(1 - outside / values.length, 0)} of the marks lie in the shaded area; the largest residual is ${number(Math.max(...values.map(Math.abs)), 3)}.`, p.root);
}

function pitPlot({ pit }) {
  const total = pit.reduce((a, b) => a + b, 0);
  const mean = total / pit.length;
  const spread = Q * Math.sqrt(mean * (1 - 1 / pit.length));
  const share = (v) => 100 * v / total;
  const most = 1.08 * Math.max(share(mean + spread), ...pit.map(share));
  const p = plot({ x: { range: [0, 1], label: 'Φ(residual)' }, y: { range: [0, most], label: '% of observations' }, label: 'Histogram of the probability integral transform' });
  const width = 1 / pit.length;
  pit.forEach((n, i) => {
    const top = p.toY(share(n));
    p.add('rect', { x: (p.toX(i * width) + 0.75).toFixed(2), y: top.toFixed(2), width: (p.toX(width) - p.toX(0) - 1.5).toFixed(2), height: (p.toY(0) - top).toFixed(2), class: 'f-bar' });
  });
  p.add('rect', { x: p.area.left, width: p.area.right - p.area.left, y: p.toY(share(mean + spread)), height: p.toY(share(Math.max(0, mean - spread))) - p.toY(share(mean + spread)), class: 'f-band' });
  p.add('path', { d: p.path([[0, share(mean)], [1, share(mean)]]), class: 's-mean', 'stroke-dasharray': '5 4' });
  const outside = pit.filter((n) => Math.abs(n - mean) > spread).length;
  return figure('Probability transform', 'Flat: predicted probabilities come true. A hump in the middle means error bars too wide, high ends too narrow.',
    `${outside} of ${pit.length} bars leave the shaded area; chance alone puts about one outside.`, p.root);
}

function correlationPlot({ count, autocorrelation: r }) {
  const chance = Q / Math.sqrt(count);
  const most = Math.max(0.1, 2.2 * chance, 1.15 * Math.max(...r.map(Math.abs)));
  const p = plot({ x: { range: [0, r.length + 1], label: 'lag, in observations' }, y: { range: [-most, most], label: 'autocorrelation' }, label: 'Autocorrelation of the whitened residuals' });
  p.add('rect', { x: p.area.left, width: p.area.right - p.area.left, y: p.toY(chance), height: p.toY(-chance) - p.toY(chance), class: 'f-band' });
  p.add('path', { d: p.path([[0, 0], [r.length + 1, 0]]), class: 's-line' });
  for (const level of [chance, -chance]) p.add('path', { d: p.path([[0, level], [r.length + 1, level]]), class: 's-mean', 'stroke-dasharray': '5 4' });
  r.forEach((v, i) => {
    const x = p.toX(i + 1).toFixed(2);
    p.add('path', { d: `M${x} ${p.toY(0).toFixed(2)}V${p.toY(v).toFixed(2)}`, class: 's-data', 'stroke-width': 2.2 });
    p.add('circle', { cx: x, cy: p.toY(v).toFixed(2), r: 2.4, class: 'f-data' });
  });
  const worst = r.reduce((best, v, i) => (Math.abs(v) > Math.abs(r[best]) ? i : best), 0);
  return figure('Autocorrelation', 'Within the shaded area nothing is left to predict; a slow decay means the kernel misses a time-scale.',
    `Largest: ${number(r[worst], 2)} at lag ${worst + 1}; chance allows ±${number(chance, 2)}.`, p.root);
}

export function diagnostics(noise) {
  byId('diagnostics').append(quantilePlot(noise), pitPlot(noise), correlationPlot(noise));
}
