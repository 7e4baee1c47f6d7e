// The whole series in a strip, with the part that the charts show marked on it; drag to move.
import { valueAxis } from './chart.js';
import { eachColumn } from './decimate.js';
import { el } from './dom.js';
import { colour, onThemeChange, printing } from './theme.js';

const HEIGHT = 44;

/// `series` is {times, values, extremes}: the observations, or the curve where there are none.
export function overview(host, view, series) {
  const canvas = el('canvas', {});
  const lens = el('div', { class: 'lens' });
  const strip = el('div', { class: 'overview', 'aria-hidden': 'true' }, canvas, lens);
  host.append(strip);
  const { min, max } = view.full;
  const [low, high] = series.extremes.of(0, series.values.length);

  const draw = () => {
    const ratio = devicePixelRatio || 1;
    const width = canvas.width = Math.max(1, Math.round((printing() ? 620 : strip.clientWidth) * ratio));
    const height = canvas.height = HEIGHT * ratio;
    const ctx = canvas.getContext('2d');
    ctx.fillStyle = colour('faint');
    const y = (v) => 3 * ratio + (high - v) / (high - low || 1) * (height - 6 * ratio);
    eachColumn(series.times, min, max, width, (column, i, j) => {
      const [a, b] = series.extremes.of(i, j);
      ctx.fillRect(column, y(b), 1, Math.max(ratio, y(a) - y(b)));
    });
  };
  const place = () => {
    strip.style.marginLeft = `${valueAxis.width}px`;
    lens.hidden = view.isFull;
    lens.style.left = `${100 * (view.min - min) / (max - min)}%`;
    lens.style.width = `${100 * (view.max - view.min) / (max - min)}%`;
  };
  const moveTo = (event) => {
    const area = strip.getBoundingClientRect();
    const at = min + (max - min) * (event.clientX - area.left) / area.width;
    const half = (view.max - view.min) / 2;
    view.set(at - half, at + half);
  };
  strip.addEventListener('pointerdown', (event) => { strip.setPointerCapture(event.pointerId); moveTo(event); });
  strip.addEventListener('pointermove', (event) => { if (event.buttons) moveTo(event); });
  view.onChange(place);
  onThemeChange(draw);
  new ResizeObserver(draw).observe(strip);
  place();
  draw();
}
