// The parts of web/ that need no browser: node --test web_test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeAxis } from '../../web/axis.js';
import { unpack } from '../../web/blocks.js';
import { eachColumn, Extremes, lowerBound } from '../../web/decimate.js';
import { bound, count, number, percent, seconds, stepped, withError } from '../../web/format.js';
import { quantile } from '../../web/normal.js';

const plain = (text) => text.replace(/\u00a0/g, ' ');

test('numbers have the digits asked for', () => {
  assert.equal(number(1234.5678, 6), '1234.57');
  assert.equal(number(0.00012345, 2), '0.00012');
  assert.equal(plain(number(1.25e-9, 2)), '1.3 × 10⁻⁹');
  assert.equal(plain(number(-6.02e23, 3)), '−6.02 × 10²³');
  assert.equal(number(9.996, 3), '10.0');
  assert.equal(number(0), '0');
  assert.equal(number(null), '–');
  assert.equal(number(-Infinity), '−∞');
});

test('bounds are rounded up', () => {
  assert.equal(bound(0.101), '0.11');
  assert.equal(bound(0.1), '0.10');
  assert.equal(plain(bound(1.61e-6)), '1.7 × 10⁻⁶');
  assert.equal(plain(bound(9.91e-6)), '1 × 10⁻⁵');
  let seed = 1;
  for (let i = 0; i < 2000; i++) {
    seed = (seed * 48271) % 2147483647;
    const value = 10 ** (20 * (seed / 2147483647) - 10);
    const [mantissa, exponent] = plain(bound(value)).split(' × 10');
    const power = exponent ? Number([...exponent].map((c) => ({ '⁻': '-' }[c] ?? '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(c))).join('')) : 0;
    const printed = Number(mantissa) * 10 ** power;
    assert.ok(printed >= value * (1 - 1e-12) && printed <= value * 1.11, `${value} → ${bound(value)}`);
  }
});

test('a value has the decimals of its error', () => {
  const cases = [[1473.09, 203.4, '1470 ± 200'], [1.5528, 0.0684, '1.553 ± 0.068'], [213.791, 6.04, '213.8 ± 6.0'], [0.160261, 0.000233, '0.16026 ± 0.00023'],
    [-3.25, 0.5, '−3.25 ± 0.50'], [99.96, 0.0996, '99.96 ± 0.10'], [1.23456e9, 2.1e6, '(1.2346 ± 0.0021) × 10⁹'], [1.5e-12, 2.2e-14, '(1.500 ± 0.022) × 10⁻¹²']];
  for (const [value, error, text] of cases) assert.equal(plain(withError(value, error)), text);
  assert.equal(withError(1.5, NaN), '1.5000');
  assert.equal(withError(1.5, 0), '1.5000');
});

test('counts, shares, seconds, steps', () => {
  assert.equal(count(2820), '2820');
  assert.equal(count(1234567), '1\u202f234\u202f567');
  assert.equal(plain(percent(0.9412)), '94.1 %');
  assert.equal(seconds(0.0331), '33.1 ms');
  assert.equal(seconds(2.5e-5), '25.0 µs');
  assert.equal(stepped(1750, 50), '1750');
  assert.equal(stepped(1750.25, 0.05), '1750.25');
  assert.equal(stepped(1.7e9 + 0.002, 0.001), '1700000000.002');
  assert.equal(stepped(-0.5, 0.5), '−0.5');
  assert.equal(stepped(-0.2, 1000), '0');
  assert.equal(stepped(3.75, 0.25), '3.75');
  assert.equal(stepped(7.5, 2.5), '7.5');
});

test('times are numbers or dates', () => {
  const numbers = timeAxis({ form: 'number', unit: 'd', origin: null });
  assert.equal(numbers.text(1749.0833, 0.01), '1749.08');
  assert.equal(numbers.toPlot(3), 3);
  const dates = timeAxis({ form: 'timestamp', unit: 'h', origin: 1709251200 });
  assert.equal(dates.text(dates.toPlot(0), 86400), '2024-03-01');
  assert.equal(dates.text(dates.toPlot(12.5), 60), '2024-03-01 12:30');
  assert.equal(dates.text(dates.toPlot(24 * 365), 1), '2025-03-01 00:00:00');
  assert.equal(timeAxis({ form: 'timestamp', unit: 'fortnight', origin: 0 }).isDate, false);
});

test('extremes of any stretch are those of a loop', () => {
  const values = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i * i));
  const extremes = new Extremes(values);
  for (const [from, to] of [[0, 1000], [0, 64], [63, 65], [100, 700], [5, 6], [999, 1000], [7, 7]]) {
    const part = [...values.slice(from, to)];
    assert.deepEqual(extremes.of(from, to), [Math.min(...part), Math.max(...part)]);
  }
});

test('columns take every time once, where it belongs', () => {
  const times = Float64Array.from({ length: 5000 }, (_, i) => i + 0.3 * Math.sin(i));
  const seen = [];
  eachColumn(times, 100, 900, 64, (column, from, to) => {
    for (let i = from; i < to; i++) {
      seen.push(i);
      assert.equal(Math.floor((times[i] - 100) / 800 * 64), column);
    }
  });
  assert.deepEqual(seen, [...Array(5000).keys()].filter((i) => times[i] >= 100 && times[i] < 900));
  assert.equal(lowerBound(times, -1), 0);
  assert.equal(lowerBound(times, 1e9), 5000);
});

test('blocks come back', () => {
  const buffers = { a: Float32Array.of(0, 0.5, 1).buffer, b: Float64Array.of(1e9, 2e9).buffer, s: Float64Array.of(0, 2).buffer, c: Uint16Array.of(0, 65535).buffer };
  const bytes = (id) => buffers[id];
  assert.deepEqual([...unpack({ kind: 'chunks', starts: 's', origins: 'b', block: 'a' }, bytes)], [1e9, 1e9 + 0.5, 2e9 + 1]);
  assert.deepEqual([...unpack({ kind: 'floats', origin: 10, block: 'a' }, bytes)], [10, 10.5, 11]);
  assert.deepEqual([...unpack({ kind: 'doubles', block: 'b' }, bytes)], [1e9, 2e9]);
  assert.deepEqual([...unpack({ kind: 'steps', origin: -1, step: 1 / 65535, block: 'c' }, bytes)], [-1, 0]);
  assert.equal(unpack({ kind: 'logarithms', origin: 0, step: Math.LN2 / 65535, block: 'c' }, bytes)[1], 2);
});

test('normal quantiles', () => {
  for (const [p, x] of [[0.5, 0], [0.975, 1.959963984540054], [1e-6, -4.753424308822899], [0.99, 2.3263478740408408]]) assert.ok(Math.abs(quantile(p) - x) < 1e-8);
});
