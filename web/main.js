// From the numbers in the page to the page.
import { timeAxis } from './axis.js';
import { unpack } from './blocks.js';
import { copyButton } from './copy.js';
import { components } from './components.js';
import { curveChart, curveSeries, residualChart } from './curve.js';
import { Extremes } from './decimate.js';
import { diagnostics } from './diagnostics.js';
import { byId, el } from './dom.js';
import { count } from './format.js';
import { matrices } from './matrix.js';
import { periods } from './periods.js';
import { certificate, parameterTable, summary } from './summary.js';
import { startTheme } from './theme.js';
import { training } from './training.js';
import { View } from './view.js';

const report = JSON.parse(byId('report').textContent);
const axis = timeAxis(report.axis);
const names = {
  time: [report.time_name || 'time', axis.unit && `[${axis.unit}]`].filter(Boolean).join(' '),
  value: report.value_name || 'value',
};

const unpacked = new Map();
const array = (block) => {
  if (!block) return null;
  if (!unpacked.has(block.block)) unpacked.set(block.block, unpack(block));
  return unpacked.get(block.block);
};
const plotted = new Map();
const times = (block) => {
  if (!axis.isDate) return array(block);
  if (!plotted.has(block.block)) plotted.set(block.block, array(block).map(axis.toPlot));
  return plotted.get(block.block);
};

function head() {
  const title = report.value_name || report.file.split('/').pop() || 'Report';
  byId('title').textContent = title;
  document.title = `${title} · bandgp`;
  const told = [report.file.split('/').pop(), `${count(report.series.used)} observations`];
  if (report.points && report.points.count < report.points.of) {
    told.push(`the charts show ${count(report.points.count)} of them: the smallest, the largest and the most surprising of each group`);
  }
  byId('subtitle').textContent = `${told.filter(Boolean).join(', ')}.`;
  byId('version').textContent = report.version;
  byId('made').textContent = `Made by bandgp ${report.version}${report.created ? `, ${report.created}` : ''}. One file: nothing is loaded from anywhere.`;
  byId('command').textContent = report.command || 'The command is not known.';
  const warning = ['converged', 'at_bound'].includes(report.fit.status) ? '' : `The training did not converge: ${report.fit.message}. `;
  const bounded = report.fit.status === 'at_bound' ? 'A parameter is at the edge of what is tried: the data do not determine it. ' : '';
  const remark = warning + bounded + report.remark;
  byId('remark').textContent = remark;
  byId('remark').hidden = remark === '';
  copyButton(byId('copy'), byId('command'));
}

function contents(sections) {
  byId('contents').append(...sections.filter((id) => !byId(id).hidden).map((id) => el('a', { href: `#${id}` }, byId(`${id}-title`).textContent)));
}

function charts() {
  const curveTimes = report.curve && times(report.curve.time);
  const curve = report.curve && curveSeries({ times: curveTimes, mean: array(report.curve.mean), deviation: array(report.curve.deviation) }, report.fit.noise);
  let points = null;
  if (report.points) {
    const values = array(report.points.value);
    points = { times: times(report.points.time), values, extremes: new Extremes(values), errors: array(report.points.error) };
  }
  const all = [points?.times, curveTimes].filter(Boolean);
  if (all.length === 0) {
    byId('curve').hidden = byId('residuals').hidden = byId('components').hidden = true;
    return;
  }
  const view = new View(Math.min(...all.map((t) => t[0])), Math.max(...all.map((t) => t[t.length - 1])));
  const forecastFrom = report.forecast_from === null ? null : axis.toPlot(report.forecast_from);
  byId('forecast-note').hidden = forecastFrom === null;
  curveChart({ view, axis, names, points, curve, forecastFrom });
  byId('curve-chart').view = view; // for tests and the curious
  components({ told: report.components, view, axis, names, array, times, forecastFrom });
  if (points && report.points.standardised) {
    residualChart({ view, axis, names, points, standardised: array(report.points.standardised) });
    diagnostics(report.noise);
  } else {
    byId('residuals').hidden = true;
  }
}

startTheme();
head();
summary(report, axis);
charts();
periods(report.spectra, report.axis.unit);
parameterTable(report);
certificate(report);
training(report);
matrices(report);
contents(['curve', 'components', 'residuals', 'periods', 'parameters', 'exactness', 'training', 'matrix', 'reproduce']);
document.documentElement.dataset.ready = 'yes';
