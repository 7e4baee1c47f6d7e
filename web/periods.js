// Periodograms: of the data, and of what the model leaves.
import { byId, el, svg, table } from './dom.js';
import { number, percent, plural, power, withError } from './format.js';
import { figure, plot } from './plot.js';

/// 1, 2 and 5 times powers of ten where they span little, else powers of ten.
function periodTicks([low, high]) {
  const decades = Math.log10(high / low);
  const of = decades < 2.2 ? [1, 2, 5] : [1];
  const list = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++) {
    for (const m of of) {
      const v = m * 10 ** k;
      if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) list.push([v, number(v, 1)]);
    }
  }
  const every = Math.max(1, Math.ceil(list.length / 7));
  return list.filter((_, i) => i % every === 0);
}

function chart({ period, power: powers, noise, peaks }, unit, label) {
  const positive = [...powers, ...noise].filter((v) => v > 0);
  const x = { range: [period[0], period.at(-1)], log: true, label: unit ? `period [${unit}]` : 'period' };
  x.ticks = periodTicks(x.range);
  const lowest = Math.max(Math.min(...positive), 1e-4 * Math.max(...positive));
  const y = { range: [0.5 * lowest, 2 * Math.max(...positive)], log: true, label: 'share of the variance' };
  const p = plot({ width: 520, height: 280, x, y, label });
  const within = (v) => Math.min(y.range[1], Math.max(y.range[0], v));
  p.add('path', { d: p.path(period.map((t, i) => [t, within(powers[i])])), class: 's-data' });
  p.add('path', { d: p.path(period.map((t, i) => [t, within(noise[i])])), class: 's-mean', 'stroke-dasharray': '5 4' });
  peaks.forEach((peak, i) => {
    const cx = p.toX(Math.min(x.range[1], Math.max(x.range[0], peak.period)));
    // A hump is as high as its top, not as its sum.
    const near = period.reduce((best, t, k) => (Math.abs(Math.log(t / peak.period)) < Math.abs(Math.log(period[best] / peak.period)) ? k : best), 0);
    const cy = p.toY(within(powers[near]));
    p.add('circle', { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3.6, class: 'f-mean' });
    p.root.append(svg('text', { x: cx.toFixed(1), y: Math.max(10, cy - 7).toFixed(1), 'text-anchor': 'middle', class: 'axis' }, String(i + 1)));
  });
  return p.root;
}

const probability = (log10) => (log10 > -4 ? number(10 ** log10, 1) : power(Math.floor(log10)));

function noteOn(peak, unit) {
  const notes = [];
  if (peak.harmonic_of !== null) notes.push(`1/${peak.harmonic} of the period of peak ${peak.harmonic_of + 1}`);
  if (peak.wanders) notes.push(`its phase wanders, by ${percent(peak.width * peak.period, 1)}`);
  if (peak.aliases.length) notes.push(`or its alias ${peak.aliases.map((t) => `${number(t, 4)}${unit && ` ${unit}`}`).join(', ')}`);
  return notes.join('; ');
}

function told(peaks, unit) {
  return table('Peaks of the periodogram', ['Peak', 'Period', 'Power', 'False alarm', 'What it is'],
    peaks.map((peak, i) => [String(i + 1), `${withError(peak.period, peak.error)}${unit && ` ${unit}`}`, `${number(100 * peak.power, 2)}\u00a0%`, probability(peak.log10_false_alarm), noteOn(peak, unit)]));
}

export function periods({ data, residuals }, unit) {
  byId('periods').hidden = data === null;
  if (data === null) return;
  const says = (peaks, none) => (peaks.length ? `${plural(peaks.length, 'peak stands', 'peaks stand')} out.` : none);
  byId('period-plots').append(figure('Of the data', 'The most that a sinusoid of each period takes, beside a trend; dashed, what noise takes on average.',
    says(data.peaks, 'No period stands out.'), chart(data, unit, 'Periodogram of the data, share of the variance by period')));
  if (residuals) {
    byId('period-plots').append(figure('Of what the model leaves', 'The same for the residuals: a peak here is a period that the model does not have.',
      says(residuals.peaks, 'No period is left.'), chart(residuals, unit, 'Periodogram of the residuals, share of the variance by period')));
  }
  const host = byId('period-table');
  if (data.peaks.length) host.append(el('h3', {}, 'Peaks of the data'), told(data.peaks, unit));
  if (residuals?.peaks.length) host.append(el('h3', {}, 'Peaks of what is left'), told(residuals.peaks, unit));
}
