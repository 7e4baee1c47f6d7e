// A page of sections with charts and tables, from the JSON inside it.
import { copyButton } from './copy.js';
import { byId, el, table } from './dom.js';
import { figure } from './plot.js';
import { legend, scatter } from './scatter.js';
import { startTheme } from './theme.js';

const page = JSON.parse(byId('document').textContent);

function head() {
  byId('title').textContent = page.title;
  document.title = `${page.title} · bandgp`;
  byId('subtitle').textContent = page.subtitle;
  byId('version').textContent = page.version;
  byId('made').textContent = `Made by bandgp ${page.version}${page.created ? `, ${page.created}` : ''}. One file: nothing is loaded from anywhere.`;
  byId('command').textContent = page.command || 'The command is not known.';
  byId('remark').textContent = page.remark;
  byId('remark').hidden = page.remark === '';
  copyButton(byId('copy'), byId('command'));
  byId('summary').append(...page.cards.map(({ label, figure: value, unit, text }) => el('div', { class: 'card' }, el('dt', {}, label),
    el('dd', {}, el('p', { class: 'figure' }, value, el('span', {}, unit)), el('p', {}, text)))));
}

/// One legend for all charts of a section: the same series looks the same on each.
function sectionLegend({ charts, legend: notes }) {
  const byName = new Map(charts.flatMap((chart) => chart.series).map((series) => [series.name, series]));
  return byName.size > 1 || notes.length ? legend([...byName.values()], notes) : null;
}

function section(data) {
  const { id, title, lead, charts, tables, notes, listings = [] } = data;
  return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), lead ? el('p', { class: 'lead' }, lead) : null,
    charts.length ? sectionLegend(data) : null,
    charts.length ? el('div', { class: 'halves charts' },
      ...charts.map((chart) => figure(chart.title, chart.how, chart.says, scatter(chart)))) : null,
    notes.length ? el('ul', { class: 'claims' }, ...notes.map((text) => el('li', {}, text))) : null,
    ...tables.map(({ caption, headings, rows, prose }) => el('div', { class: prose ? 'scroll' : 'scroll figures', tabindex: 0, role: 'group', 'aria-label': caption }, table(caption, headings, rows))),
    ...listings.map((listing) => el('details', {}, el('summary', {}, listing.title), el('pre', { class: 'listing', tabindex: 0, 'aria-label': listing.title }, listing.text))));
}

startTheme();
head();
byId('sections').append(...page.sections.map(section));
byId('contents').append(...[...page.sections.map(({ id }) => id), 'reproduce'].map((id) => el('a', { href: `#${id}` }, byId(`${id}-title`).textContent)));
document.documentElement.dataset.ready = 'yes';
