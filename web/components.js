// What the curve is made of: every term in a sentence, and its curve where there are several.
import { componentChart, curveSeries } from './curve.js';
import { byId, el } from './dom.js';
import { percent } from './format.js';

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/// `told` is the report's components: the times of all, and for each its kind, sentence, share, mean and deviation.
export function components({ told: { time, list }, view, axis, names, array, times, forecastFrom }) {
  byId('components').hidden = list.length === 0;
  const several = list.length > 1;
  list.forEach(({ kind, sentence, share, mean, deviation }, i) => {
    const title = `${several ? `${i + 1}. ` : ''}${capital(kind)}${share > 0 && kind !== 'unsupported' ? `, ${percent(share)} of the variance` : ''}`;
    const host = el('div', { class: 'component' }, el('h3', {}, title), el('p', { class: 'note' }, `${capital(sentence)}.`));
    byId('component-list').append(host);
    if (!mean || kind === 'unsupported') return;
    const curve = curveSeries({ times: times(time), mean: array(mean), deviation: array(deviation) }, 0);
    componentChart({ host, view, axis, names, label: `Chart of component ${i + 1}, ${kind}; it shows the same times as the chart of the curve`, curve, forecastFrom });
  });
  if (!several) byId('component-lead').hidden = true;
}
