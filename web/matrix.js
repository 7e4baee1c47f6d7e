// Which entries of a matrix are kept: the whole from afar, and the surroundings of its widest row entry by entry.
import { byId, svg } from './dom.js';
import { count, number, percent, plural } from './format.js';
import { figure } from './plot.js';

const SIZE = 340;

function frameOf(label) {
  return svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, class: 'small matrix', role: 'img', 'aria-label': label },
    svg('rect', { x: 0.5, y: 0.5, width: SIZE - 1, height: SIZE - 1, class: 'paper s-line' }));
}

function far(matrix, kept = true) {
  const { size, row, first } = matrix;
  const root = frameOf(`Kept entries of the whole matrix of ${matrix.rows}`);
  const at = (v) => v / size * SIZE;
  const least = 1.2; // a band thinner than a line is drawn as a line
  const edge = row.flatMap((r, i) => { // a step down the left edge for every row that is known
    const x = at(Math.min(first[i], r + 1 - least / SIZE * size));
    return [[x, at(r)], [x, at(row[i + 1] ?? size)]];
  });
  const lower = edge.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`), upper = edge.map(([x, y]) => `${y.toFixed(2)} ${x.toFixed(2)}`).reverse();
  root.append(svg('path', { d: `M${lower.join('L')}L${SIZE} ${SIZE}L${upper.join('L')}Z`, class: kept ? 'f-mean' : 'f-soft' }));
  if (!kept) return root;
  const [x, side] = [at(matrix.window_begin), at(matrix.window_first.length)];
  if (side < SIZE) root.append(svg('rect', { x: x.toFixed(1), y: x.toFixed(1), width: Math.max(5, side).toFixed(1), height: Math.max(5, side).toFixed(1), class: 'hole s-warn', 'stroke-width': 1.5 }));
  return root;
}

function near(matrix) {
  const { window_begin: begin, window_first: first } = matrix;
  const root = frameOf(`Kept entries around the widest row of the matrix of ${matrix.rows}`);
  const cell = SIZE / first.length;
  const gap = cell > 5 ? 0.8 : 0;
  const d = [];
  first.forEach((from, i) => {
    for (let j = Math.max(0, from - begin); j < i; j++) {
      for (const [a, b] of [[i, j], [j, i]]) d.push(`M${(b * cell + gap / 2).toFixed(2)} ${(a * cell + gap / 2).toFixed(2)}h${(cell - gap).toFixed(2)}v${(cell - gap).toFixed(2)}h-${(cell - gap).toFixed(2)}Z`);
    }
  });
  root.append(svg('path', { d: d.join(''), class: 'f-soft' }),
    svg('path', { d: first.map((_, i) => `M${(i * cell + gap / 2).toFixed(2)} ${(i * cell + gap / 2).toFixed(2)}h${(cell - gap).toFixed(2)}v${(cell - gap).toFixed(2)}h-${(cell - gap).toFixed(2)}Z`).join(''), class: 'f-mean' }));
  return root;
}

const TITLES = { points: 'Covariance of the observations', nodes: 'Matrix of the grid' };

export function matrices(report) {
  const { matrices: list, fit, covariance } = report;
  const lead = byId('matrix-lead');
  if (list.length === 0) {
    lead.textContent = {
      markov: 'The states of the terms go from point to point: there is no matrix of the whole series.',
      elements: 'Chunks of points are joined in a small front that moves along: there is no matrix of the whole series.',
    }[fit.method] ?? 'There is no matrix to show.';
    return;
  }
  const wanted = covariance ? ` The covariance itself would need ${plural(covariance.bandwidth, 'neighbour')} a side for the same tolerance.` : '';
  lead.textContent = {
    band: 'Of the covariance matrix only the entries near its diagonal are kept; what the rest could change is what the certificate bounds.',
    dual: `The length-scale is long, so the curve is written in Gaussians on a grid, and the matrix of these is banded instead.${wanted}`,
  }[fit.method];
  for (const matrix of list) {
    const entries = matrix.size * (matrix.size + 1) / 2;
    const zoomed = matrix.window_first.length < matrix.size;
    const title = TITLES[matrix.rows];
    const says = `${count(matrix.size)} × ${count(matrix.size)}, ${plural(matrix.bandwidth, 'neighbour')} a side at most; ${share(matrix.kept / entries)} of the entries.`;
    if (zoomed) byId('matrix-plots').append(figure(title, 'Seen whole; blue is kept, and the square marks the part beside it.', says, far(matrix)));
    byId('matrix-plots').append(figure(zoomed ? `${title}, near its widest row` : `${title}, entry by entry`,
      `Rows ${count(matrix.window_begin + 1)} to ${count(matrix.window_begin + matrix.window_first.length)}; the diagonal stands out.`, zoomed ? '' : says, near(matrix)));
  }
  if (covariance) {
    byId('matrix-plots').append(figure('The covariance, not used', 'What would have to be kept of the covariance of the observations in a band.',
      `${count(covariance.size)} × ${count(covariance.size)}, ${plural(covariance.bandwidth, 'neighbour')} a side; ${share(2 * covariance.kept / (covariance.size * (covariance.size + 1)))} of the entries.`, far(covariance, false)));
  }
}

const share = (v) => (v > 0.001 ? percent(v, v < 0.01 ? 2 : 1) : `${number(100 * v, 2)} %`);
