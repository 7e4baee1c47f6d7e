// What was read, what was fitted, how well, how exact, what it cost; the tables behind it.
import { byId, el, table } from './dom.js';
import { bound, count, number, percent, plural, seconds, withError } from './format.js';

const base = (name) => name.replace(/_\d+$/, '');

function readCard({ series: s, file, value_name: value, time_name: time, axis: { unit } }, axis) {
  const notes = [];
  const at = (t) => axis.text(axis.toPlot(t), axis.isDate ? (s.span > 0 ? (axis.toPlot(s.last_time) - axis.toPlot(s.first_time)) / 1000 : 1) : (s.span / 1000 || 0));
  notes.push(`${file || 'A series'}${value ? `: ${value} against ${time || 'row'}` : ''}, ${at(s.first_time)} to ${at(s.last_time)}.`);
  if (s.span > 0) notes.push(`Spacing ${number(s.mean_gap, 3)}${s.max_gap > 1.5 * s.mean_gap ? ` on average, gaps up to ${number(s.max_gap, 3)}` : ''}${unit ? ` ${unit}` : ''}.`);
  const changes = [[s.dropped, 'dropped (not finite)'], [s.thinned, 'thinned out'], [s.merged, 'sharing an earlier time'], [s.bad_lines, 'malformed lines skipped']]
    .filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  if (!s.sorted) changes.push('sorted by time');
  if (changes.length) notes.push(`Of ${plural(s.rows, 'row')}: ${changes.join(', ')}.`);
  return ['Read', count(s.used), s.used === 1 ? 'observation' : 'observations', notes];
}

const withUnit = (p, unit) => withError(p.value, p.error ?? NaN) + (unit && p.unit === 'time' ? ` ${unit}` : '');

function fittedCard({ fit, axis: { unit } }) {
  const scales = fit.parameters.filter((p) => p.unit === 'time');
  const names = [...new Set(scales.map((p) => base(p.name)))];
  const single = scales.length === 1;
  const shown = fit.parameters.map((p) => `${p.name.replace('_', ' ')} ${withUnit(p, unit)}`);
  return ['Fitted', single ? number(scales[0].value, 3) : scales.map((p) => number(p.value, 2)).join(', '), (single ? names[0] : names.map((name) => `${name}s`).join(', ')) + (unit ? `, ${unit}` : ''),
    [`${fit.shapes.join(' + ')}, ${fit.mean} mean.`, `${shown.join('; ')}.`]];
}

function wellCard({ diagnostics: d, points }) {
  if (d.loo_nmse === null) return ['How well', '–', '', [points ? 'There is no curve to compare with.' : 'Needs the data.']];
  const [figure, what] = d.loo_nmse < 1 ? [percent(1 - d.loo_nmse), 'of the variance predicted'] : ['0\u00a0%', 'predicted: the average does as well'];
  return ['How well', figure, what,
    ['Every observation predicted from all the others.', `NMSE ${number(d.loo_nmse, 3)}, NLPD ${number(d.loo_nlpd, 4)} nats; ${percent(d.coverage_95)} lie in their 95 % interval.`]];
}

// Interrupted while searching: what is computed at the end of training is not there.
const stoppedEarly = (fit) => fit.status === 'cancelled' && !fit.certificate.positive_definite;

// Nats from which it would be wrong to call the answer exact.
const roundingShows = (rounding) => rounding === null || rounding > 0.01;

export function certificateSentence({ certificate: c, nll, status, rounding }) {
  if (nll === null) return 'No certificate: there is no fit.';
  if (stoppedEarly({ status, certificate: c })) return 'No certificate: training was interrupted before there was one.';
  if (!c.positive_definite) return 'No certificate: the banded covariance is not positive definite.';
  if (c.other_model) return 'Another model than the exact Gaussian process: there is nothing to certify.';
  if (!c.holds) return 'No certificate: the band leaves out too much for any bound; widen it, or leave it to be chosen.';
  if (c.rho === 0 && roundingShows(rounding)) return 'Nothing was left out of the covariance, but rounding keeps this from being the exact Gaussian process.';
  if (c.rho === 0) return 'Nothing was left out of the covariance: this is the exact Gaussian process.';
  return `The exact Gaussian process has a log-likelihood within ${bound(c.nll_error)} nats of this one, a curve within ${bound(c.mean_error)} of the curve above ` +
    `and a variance within ${bound(c.variance_error)}, throughout the span of the data.`;
}

function exactCard({ fit }) {
  const c = fit.certificate;
  if (!c.holds) return ['How exact', 'No bound', '', [certificateSentence(fit)]];
  const notes = [c.rho === 0 ? 'Nothing was left out.' : `The exact curve is within ${bound(c.mean_error)} of this one, its variance within ${bound(c.variance_error)}.`];
  if (fit.condition === null || fit.condition > 1e9) notes.push(`Rounding comes on top: condition number ${number(fit.condition ?? Infinity, 1)} or more.`);
  if (c.rho === 0 && roundingShows(fit.rounding)) return ['How exact', 'Rounding', 'is the limit', notes];
  return ['How exact', c.rho === 0 ? 'exact' : `±\u00a0${bound(c.nll_error)}`, c.rho === 0 ? '' : 'nats, proved', notes];
}

function costCard({ fit, matrices }) {
  const kept = matrices[0];
  const notes = [`${plural(fit.evaluations, 'evaluation')} of the likelihood, ${fit.status === 'converged' ? 'converged' : fit.status.replaceAll('_', ' ')}.`];
  if (fit.method === 'markov') notes.push('The states of the terms, filtered from point to point: linear in the number of points.');
  if (fit.method === 'elements') notes.push('Elements of chunks of points, joined in a front: linear in the number of points.');
  if (kept) notes.push(`${fit.method === 'band' ? 'Band' : fit.method === 'dual' ? 'Dual band' : 'Band and grid'}: ${plural(fit.bandwidth, 'neighbour')} a side${fit.reach > 0 ? `, all within ${number(fit.reach, 3)}` : ''}.`);
  return ['What it cost', seconds(fit.seconds), 'of training', notes];
}

export function summary(report, axis) {
  const cards = [readCard(report, axis), fittedCard(report), wellCard(report), exactCard(report), costCard(report)];
  byId('summary').append(...cards.map(([term, figure, unit, notes]) => el('div', { class: 'card' }, el('dt', {}, term),
    el('dd', {}, el('p', { class: 'figure' }, figure, unit ? el('span', {}, unit) : null), ...notes.map((note) => el('p', {}, note))))));
}

export function parameterTable({ fit, axis: { unit } }) {
  const rows = fit.parameters.map((p) => [p.name, withUnit(p, unit),
    p.error > 0 ? percent(p.error / Math.abs(p.value), 1) : 'none: fixed, at a bound or not asked for',
    p.meaning + (p.unit === 'variance' ? `; its square root is ${number(Math.sqrt(p.value), 4)}` : '')]);
  ['mean at time 0', 'slope of the mean'].forEach((name, i) => {
    if (i < fit.mean_coefficients.length) rows.push([fit.mean_coefficients.length === 1 ? 'mean' : name, number(fit.mean_coefficients[i], 6), '', 'coefficient of the mean function, by generalised least squares']);
  });
  if (fit.status === 'cancelled') byId('parameter-lead').textContent = 'The best values until training was interrupted; others may make the data likelier.';
  byId('parameter-table').append(table('Parameters', ['Parameter', 'Value ± standard error', 'Relative error', 'What it is'], rows),
    el('p', { class: 'note' }, 'Kernel: ', el('code', {}, fit.kernel)));
}

export function certificate({ fit }) {
  byId('certificate').textContent = certificateSentence(fit);
  const c = fit.certificate;
  const rows = [['ρ', c.rho === null ? '–' : bound(c.rho), 'relative size of what was left out of the covariance'],
    ['NLL error', c.nll_error === null ? '–' : `${bound(c.nll_error)} nats`, fit.nll === null ? '' : `the NLL is ${number(fit.nll, 10)}`],
    ['Mean error', c.mean_error === null ? '–' : bound(c.mean_error), 'largest distance between the exact curve and this one'],
    ['Variance error', c.variance_error === null ? '–' : bound(c.variance_error), 'the same for the variance of the curve'],
    ['Tolerance', fit.tolerance === null ? 'not used' : `${number(fit.tolerance, 2)} nats`, 'asked of the last stage; the band was chosen to keep it'],
    ['Condition', stoppedEarly(fit) ? '–' : fit.condition === null ? '∞' : number(fit.condition, 2), 'what rounding is magnified by, at least'],
    ['Rounding', stoppedEarly(fit) || fit.rounding === null ? '–' : `about ${number(fit.rounding, 1)} nats`, 'an estimate from residuals; it comes on top of the bounds']];
  byId('certificate-table').append(table('Numbers of the certificate', ['Bound', 'Value', 'What it says'], rows));
}
