// The stretch of time that the charts show. Whoever changes it, all of them follow, once a frame.
export class View {
  constructor(min, max) {
    if (!(max > min)) { min -= 0.5; max += 0.5; }
    this.full = { min, max };
    this.min = min;
    this.max = max;
    this.listeners = [];
    this.waiting = false;
  }

  get isFull() { return this.min === this.full.min && this.max === this.full.max; }
  onChange(listener) { this.listeners.push(listener); }

  /// Moves to [min, max], kept inside the whole and wide enough for its numbers to differ.
  set(min, max) {
    const whole = this.full.max - this.full.min;
    const size = Math.max(Math.abs(this.full.min), Math.abs(this.full.max));
    const least = Math.max(1e-9 * whole, 1e-12 * size);
    let width = Math.min(Math.max(max - min, least), whole);
    let from = (min + max) / 2 - width / 2;
    from = Math.min(Math.max(from, this.full.min), this.full.max - width);
    const isWhole = width >= whole;
    this.min = isWhole ? this.full.min : from;
    this.max = isWhole ? this.full.max : Math.min(from + width, this.full.max);
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const listener of this.listeners) listener();
    });
  }

  pan(share) {
    const shift = share * (this.max - this.min);
    this.set(this.min + shift, this.max + shift);
  }

  /// Around `at` (a time), which stays where it is.
  zoom(factor, at = (this.min + this.max) / 2) {
    this.set(at - (at - this.min) * factor, at + (this.max - at) * factor);
  }

  reset() { this.set(this.full.min, this.full.max); }
}
