// How the parameters were found: every evaluation, stage by stage.
import { byId, table, svg } from './dom.js';
import { count, number, plural, seconds } from './format.js';
import { figure, plot } from './plot.js';

const FLOOR = 1e-6; // nats: closer than that to the best is as good as the best
const MARKS = ['M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0', 'M0 -3.6L3.4 2.6H-3.4Z', 'M-2.8 -2.8H2.8V2.8H-2.8Z', 'M0 -3.8L3.8 0L0 3.8L-3.8 0Z'];

function stagesOf({ stage, n, nll, seconds: time, evaluation }) {
  const stages = [];
  stage.forEach((s, i) => {
    if (stages.at(-1)?.number !== s) stages.push({ number: s, n: n[i], best: Infinity, from: i, to: i, begin: i ? time[i - 1] : 0 });
    const last = stages.at(-1);
    last.to = i + 1;
    last.end = time[i];
    if (nll[i] !== null) last.best = Math.min(last.best, nll[i]);
  });
  return stages.map((s) => ({ ...s, first: evaluation[s.from], last: evaluation[s.to - 1] }));
}

/// Marks of one stage share a shape; a line stands between stages.
function scatter(p, trace, stages, value) {
  stages.forEach((stage, s) => {
    if (s) p.add('path', { d: `M${p.toX(stage.first - 0.5)} ${p.area.top}V${p.area.bottom}`, class: 's-line', 'stroke-dasharray': '2 4' });
    const marks = svg('g', { class: s % 2 ? 'f-mean' : 'f-data' });
    for (let i = stage.from; i < stage.to; i++) {
      const v = value(i, stage);
      if (v === null) continue;
      marks.append(svg('path', { d: MARKS[s % MARKS.length], transform: `translate(${p.toX(trace.evaluation[i]).toFixed(1)} ${p.toY(v).toFixed(1)})` }));
    }
    p.root.append(marks);
    const width = p.toX(stage.last) - p.toX(stage.first);
    if (stages.length > 1 && width > 44) {
      p.root.append(svg('text', { x: (p.toX(stage.first) + width / 2).toFixed(1), y: p.area.top + 10, 'text-anchor': 'middle', class: 'axis' }, `stage ${s + 1}`));
    }
  });
}

export function training(report) {
  const { trace, fit } = report;
  if (trace.evaluation.length === 0) {
    byId('training-lead').textContent = `${plural(fit.evaluations, 'evaluation')} in ${seconds(fit.seconds)}. The model file does not hold the steps of the training.`;
    return;
  }
  const stages = stagesOf(trace);
  byId('training-lead').textContent = stages[0].n < stages.at(-1).n
    ? 'Coarse to fine: the right valley is looked for on part of the data, then the walk goes down on all of it.'
    : 'Every evaluation of the likelihood: a search with a loose tolerance, then the walk down and the curvature with a tight one.';
  const lastEvaluation = trace.evaluation.at(-1);
  const x = { range: [trace.evaluation[0] - 1, lastEvaluation + 1], label: 'evaluation' };
  const excess = (i, stage) => (trace.nll[i] === null ? null : Math.max(FLOOR, trace.nll[i] - stage.best));
  const all = stages.flatMap((s) => Array.from({ length: s.to - s.from }, (_, k) => excess(s.from + k, s))).filter((v) => v !== null);
  const rejected = trace.nll.filter((v) => v === null).length;
  const wide = { width: 520, height: 260 };
  const loss = plot({ ...wide, x, y: { range: [0.5 * FLOOR, 60 * Math.max(1, ...all)], log: true, label: 'nats above the best' }, label: 'Negative log-likelihood above the best of its stage, by evaluation' });
  scatter(loss, trace, stages, excess);
  const widest = Math.max(1, ...trace.bandwidth);
  const band = plot({ ...wide, x, y: { range: [0.8, 4 * Math.max(8, widest)], log: true, label: 'neighbours a side' }, label: 'Bandwidth by evaluation' });
  scatter(band, trace, stages, (i) => Math.max(1, trace.bandwidth[i]));
  const hasBand = trace.bandwidth.some((width) => width > 0);
  byId('training-plots').append(
    figure('Negative log-likelihood', 'How far above the best of its stage each evaluation was, on a logarithmic scale; the bottom is a millionth of a nat.',
      rejected > 0 ? `${plural(rejected, 'evaluation')} found no positive definite matrix.` : '', loss.root),
    ...(hasBand ? [figure('Bandwidth', 'How many neighbours were kept so that the tolerance held at the parameters tried; where another representation is cheaper, its own width.',
      `${count(trace.bandwidth.at(-1))} at the end.`, band.root)] : []));
  byId('stage-table').append(table('Stages of the training', ['Stage', 'Points', 'Evaluations', 'Best NLL', 'NLL per point', 'Time'],
    stages.map((s, i) => [String(i + 1), count(s.n), count(s.to - s.from), number(s.best, 9), number(s.best / s.n, 5), seconds(s.end - s.begin)])));
}
