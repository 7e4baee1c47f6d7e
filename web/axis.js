// Times on an axis: plain numbers, or dates where it is known when time 0 was. The only file that knows which.
import { number, stepped } from './format.js';

const UNIT_SECONDS = { s: 1, min: 60, h: 3600, d: 86400, y: 365.25 * 86400 };

/// From {form, unit, origin, zone}: `toPlot` maps a time to where it is plotted (dates: seconds since 1970), `text` writes
/// a plotted time with as many digits as a step of that size needs.
export function timeAxis({ form, unit, origin, zone }) {
  if (form === 'timestamp' && origin !== null && unit in UNIT_SECONDS) {
    const factor = UNIT_SECONDS[unit];
    return { isDate: true, unit: zone, toPlot: (t) => origin + factor * t, text: dateText };
  }
  return {
    isDate: false, unit, toPlot: (t) => t,
    text: (t, step) => (step > 0 ? stepped(t, step) : number(t, 10)),
  };
}

/// 2024-03-01 12:30, without what is finer than the step.
function dateText(seconds, step = 1) {
  const date = new Date(1000 * seconds);
  if (Number.isNaN(date.getTime())) return number(seconds, 10);
  const [day, clock] = date.toISOString().split('T');
  if (step >= 86400) return day;
  if (step >= 60) return `${day} ${clock.slice(0, 5)}`;
  return `${day} ${clock.slice(0, step >= 1 ? 8 : 12)}`;
}
