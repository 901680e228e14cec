// Writes times for people. Times are in the trace's unit of time.

/** @type {[number, string][]} */
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const NANOSECOND = UNITS[3];

export class Units {
  /** @param {number} second Length of a second in the trace's unit of time. */
  constructor(second) {
    this.second = second;
  }

  /**
   * Returns a time in the largest unit that fits `around`.
   * @param {number} time
   */
  format(time, around = Math.abs(time)) {
    const seconds = time / this.second;
    const [size, name] = UNITS.find(([it]) => around / this.second >= it) || NANOSECOND;
    return seconds === 0 ? "0 s" : `${Number((seconds / size).toPrecision(6))} ${name}`;
  }

  /**
   * Returns the label of a mark on an axis. All marks of an axis have the same unit, and just enough digits to
   * distinguish them.
   * @param {number} time
   * @param {number} step
   * @param {number} largest Largest absolute time of the axis.
   */
  mark(time, step, largest) {
    const [size, name] = UNITS.find(([it]) => largest / this.second >= it * 0.999) || NANOSECOND;
    const unit = size * this.second;
    const digits = Math.min(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)), 12);
    return `${(time / unit).toFixed(digits)} ${name}`;
  }
}

/**
 * Returns the least of 1, 2, 5, 10, 20, … (times a power of ten) that is at least `least`.
 * @param {number} least
 */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least * 0.999999) || least;
}
