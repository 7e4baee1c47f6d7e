// Numbers as a person would write them.
const SUPERSCRIPT = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };
const MINUS = '−';
const THIN = '\u202f';
const TIMES = '\u00a0×\u00a0'; // does not break
const PLUS_MINUS = '\u00a0±\u00a0';

const minus = (text) => text.replace('-', MINUS);
export const power = (exponent) => `10${[...String(exponent)].map((c) => SUPERSCRIPT[c]).join('')}`;
const exponentOf = (value) => (value === 0 ? 0 : Number(Math.abs(value).toExponential().split('e')[1]));
const isPlain = (exponent) => exponent >= -4 && exponent < 7;

/// Whole numbers, from five digits on with thin spaces: 1 000 000.
export function count(value) {
  if (Math.abs(value) < 1e4) return minus(String(Math.round(value)));
  return minus(String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN));
}

/// `digits` significant digits, rounded as `round` says.
export function number(value, digits = 4, round = Math.round) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${MINUS}∞`;
  if (value === 0) return '0';
  // Decimal arithmetic on the shortest text, so that 0.1 stays one digit whatever the way of rounding.
  let [mantissa, exponent] = Math.abs(value).toExponential().split('e');
  exponent = Number(exponent);
  const scaled = Number(`${mantissa}e${digits - 1}`);
  let whole = round(value < 0 ? -scaled : scaled);
  if (Math.abs(whole) >= 10 ** digits) { whole /= 10; exponent += 1; }
  const rounded = Number(`${whole}e${exponent - digits + 1}`);
  if (isPlain(exponent)) return minus(rounded.toFixed(Math.max(0, digits - 1 - exponent)));
  const short = Number(`${whole}e${1 - digits}`).toFixed(digits - 1);
  return `${minus(short)}${TIMES}${power(exponent)}`;
}

/// A bound: two digits, rounded up, so that what is printed still is one.
export const bound = (value) => number(value, 2, Math.ceil).replace(/^(\d)\.0(?=$|\u00a0)/, '$1');

/// `1234.5 ± 2.1`: the error to two digits, the value to as many decimals.
export function withError(value, error) {
  if (!(error > 0) || !Number.isFinite(error) || !Number.isFinite(value)) return number(value, 5);
  const exponent = Math.max(exponentOf(value), exponentOf(error));
  const shift = isPlain(exponent) && exponentOf(error) >= -7 ? 0 : exponent;
  const scale = (x) => Number(`${x.toExponential().split('e')[0]}e${exponentOf(x) - shift}`);
  const twoDigits = Number(scale(error).toPrecision(2));
  const decimals = Math.min(100, Math.max(0, 1 - exponentOf(twoDigits)));
  const round = (x) => (decimals > 0 ? x.toFixed(decimals)
    : (Math.round(x / 10 ** (exponentOf(twoDigits) - 1)) * 10 ** (exponentOf(twoDigits) - 1)).toFixed(0));
  const text = `${minus(round(scale(value)))}${PLUS_MINUS}${round(twoDigits)}`;
  return shift === 0 ? text : `(${text})${TIMES}${power(shift)}`;
}

/// As many decimals as steps of this size need.
export function stepped(value, step) {
  const exponent = exponentOf(value);
  const digit = Math.floor(Math.log10(step) + 1e-9);
  const finer = Math.abs(step / 10 ** digit - Math.round(step / 10 ** digit)) > 1e-6 ? 1 : 0; // steps of 2.5
  const decimals = Math.min(100, Math.max(0, finer - digit));
  if (value !== 0 && (exponent >= 7 || decimals > 6) && Math.abs(value) < 1e3 * step) return number(value, 3);
  if (exponent >= 12) return number(value, Math.min(17, Math.max(2, exponent + 1 - Math.floor(Math.log10(step)))));
  const text = value.toFixed(decimals);
  return minus(Number(text) === 0 ? text.replace('-', '') : text);
}

export function seconds(value) {
  if (value < 1e-3) return `${number(1e6 * value, 3)} µs`;
  if (value < 1) return `${number(1e3 * value, 3)} ms`;
  if (value < 600) return `${number(value, 3)} s`;
  return `${number(value / 60, 3)} min`;
}

export const percent = (share, decimals = 1) => `${minus((100 * share).toFixed(decimals))}\u00a0%`;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
