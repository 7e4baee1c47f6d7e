// A chart over time: uPlot's axes, cursor and selection around what paint.js draws; the same view for all.
import uPlot from 'uplot';
import { el } from './dom.js';
import { stepped } from './format.js';
import { colour, onThemeChange, printing } from './theme.js';

const FONT = '12px ui-sans-serif, system-ui, sans-serif';
const PAPER_WIDTH = 680, PAPER_HEIGHT = 0.72; // what A4 has room for, and how much lower a chart is there

/// Charts below one another begin at the same place: as wide as the widest numbers seen on any of them.
export const valueAxis = { numbers: 48, label: 22, get width() { return this.numbers + this.label; } };

let ruler = null;
function numbersWidth(texts) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = FONT;
  return Math.ceil(Math.max(0, ...(texts ?? []).map((text) => ruler.measureText(text).width))) + 16;
}

// The months by name, for 2/3 is not the same day everywhere, and a clock of 24 hours. Rows are uPlot's: from this step on
// the text of a tick, and of the first one in a year, in a month, on a day, in an hour, in a minute and in a second; 1: in
// front of the tick's own.
const DAY = 86400, NEW_DAY = '\n{D} {MMM}', NEW_YEAR = '\n{D} {MMM} {YYYY}';
const DATE_TEXTS = [
  [365 * DAY, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * DAY, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [DAY, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', NEW_YEAR, null, NEW_DAY, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', NEW_YEAR, null, NEW_DAY, null, null, null, 1],
  [0.001, '{ss}.{fff}', `${NEW_YEAR} {HH}:{mm}`, null, `${NEW_DAY} {HH}:{mm}`, null, '\n{HH}:{mm}', null, 1],
];

/// {host, view, axis, height, label, timeLabel, valueLabel, extent(min, max) → [low, high], draw(u), readout(time) → text}
export function timeChart({ host, view, axis, height, label, timeLabel, valueLabel, extent, draw, readout }) {
  const output = el('p', { class: 'readout' });
  const box = el('div', { class: 'plot', tabindex: 0, role: 'group', 'aria-label': label, 'aria-describedby': 'keys' });
  host.append(box, output);

  const common = { stroke: () => colour('muted'), grid: { stroke: () => colour('grid'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1, size: 5 }, font: FONT, labelFont: FONT, labelSize: valueAxis.label, labelGap: 2 };
  const values = (u, splits, _axis, _space, step) => splits.map((v) => (v === null ? '' : stepped(v, step)));
  const size = () => (printing() ? { width: PAPER_WIDTH, height: Math.round(PAPER_HEIGHT * height) }
    : { width: Math.max(280, host.clientWidth), height });
  const u = new uPlot({
    ...size(),
    padding: [10, 24, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(1000 * seconds), 'Etc/UTC'),
    scales: {
      x: { time: axis.isDate, range: (_u, min, max) => [min, max] },
      y: { auto: false, range: (_u, min, max) => [min, max] },
    },
    axes: [
      { ...common, label: timeLabel, size: axis.isDate ? 46 : 34, ...(axis.isDate ? { values: DATE_TEXTS } : { values, space: (_u, _axis, min, max) => 28 + numbersWidth([stepped(max, (max - min) / 8)]) }) },
      { ...common, label: valueLabel, values, size: (_u, texts) => (valueAxis.numbers = Math.max(valueAxis.numbers, numbersWidth(texts))) },
    ],
    series: [{}, { show: true, stroke: 'transparent', points: { show: false }, paths: () => null }],
    cursor: {
      points: { show: false }, y: false, drag: { setScale: false, x: true, y: false, dist: 5 },
      bind: {
        mousedown: (self, _target, handler) => (event) => (event.shiftKey ? startPan(self, event) : handler(event)),
        dblclick: () => () => view.reset(),
      },
    },
    hooks: {
      draw: [draw],
      setSelect: [(self) => {
        if (self.select.width < 3) return;
        const from = self.posToVal(self.select.left, 'x'), to = self.posToVal(self.select.left + self.select.width, 'x');
        self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        view.set(from, to);
      }],
      setCursor: [(self) => {
        output.textContent = self.cursor.left >= 0 ? readout(self.posToVal(self.cursor.left, 'x')) : '';
      }],
    },
  }, [[view.min, view.max], [null, null]], box);
  for (const canvas of box.querySelectorAll('canvas')) canvas.setAttribute('aria-hidden', 'true');

  function startPan(self, event) {
    let last = event.clientX;
    const move = (e) => {
      view.pan(-(e.clientX - last) / (self.bbox.width / (devicePixelRatio || 1)));
      last = e.clientX;
    };
    const stop = () => { removeEventListener('mousemove', move); removeEventListener('mouseup', stop); };
    addEventListener('mousemove', move);
    addEventListener('mouseup', stop);
  }

  const show = () => {
    const [low, high] = extent(view.min, view.max);
    u.batch(() => {
      u.setScale('x', { min: view.min, max: view.max });
      u.setScale('y', { min: low, max: high });
    });
  };
  view.onChange(show);
  show();
  onThemeChange(() => { u.setSize(size()); u.redraw(false, true); });
  new ResizeObserver(() => { if (!printing() && size().width !== u.width) u.setSize(size()); }).observe(host);
  box.addEventListener('keydown', (event) => onKey(event, view));
  box.addEventListener('wheel', (event) => {
    // The page scrolls as ever; the wheel belongs to the chart once it has the focus, or with Ctrl.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== box) return;
    event.preventDefault();
    const area = u.over.getBoundingClientRect();
    view.zoom(Math.exp(0.0015 * Math.max(-400, Math.min(400, event.deltaY))), u.posToVal(event.clientX - area.left, 'x'));
  }, { passive: false });
  return u;
}

export const KEYS = { ArrowLeft: (v) => v.pan(-0.15), ArrowRight: (v) => v.pan(0.15), '+': (v) => v.zoom(1 / 1.5), '=': (v) => v.zoom(1 / 1.5),
  '-': (v) => v.zoom(1.5), _: (v) => v.zoom(1.5), Home: (v) => v.reset(), 0: (v) => v.reset() };

function onKey(event, view) {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(view);
}
