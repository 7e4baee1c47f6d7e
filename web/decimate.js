// What of a long array a screen can show: smallest and largest in every column of pixels.
const BLOCK = 64;

/// First index in [from, to) with values[index] ≥ x; `values` does not decrease.
export function lowerBound(values, x, from = 0, to = values.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

/// Smallest and largest of any stretch of an array, whole blocks at a time: a view of 10⁶ values costs 10⁶/64 steps.
export class Extremes {
  constructor(values) {
    this.values = values;
    const blocks = Math.ceil(values.length / BLOCK);
    this.low = new Float64Array(blocks).fill(Infinity);
    this.high = new Float64Array(blocks).fill(-Infinity);
    for (let i = 0; i < values.length; i++) {
      const b = (i / BLOCK) | 0;
      if (values[i] < this.low[b]) this.low[b] = values[i];
      if (values[i] > this.high[b]) this.high[b] = values[i];
    }
  }

  /// [low, high] of [from, to); [∞, −∞] where that is empty.
  of(from, to) {
    let low = Infinity, high = -Infinity, i = from;
    while (i < to) {
      if (i % BLOCK === 0 && i + BLOCK <= to) {
        const b = i / BLOCK;
        if (this.low[b] < low) low = this.low[b];
        if (this.high[b] > high) high = this.high[b];
        i += BLOCK;
      } else {
        const v = this.values[i++];
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
    return [low, high];
  }
}

/// visit(column, from, to) for every one of `columns` equal columns of [min, max] that has times in it.
export function eachColumn(times, min, max, columns, visit) {
  let from = lowerBound(times, min);
  const end = lowerBound(times, max, from);
  for (let column = 0; column < columns && from < end; column++) {
    const to = column + 1 === columns ? end : lowerBound(times, min + (max - min) * (column + 1) / columns, from, end);
    if (to > from) visit(column, from, to);
    from = to;
  }
}
