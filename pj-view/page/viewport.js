// Visible window of times and lanes.
/** @import { Interval } from "./types" */

/** Height of the axis in CSS pixels. */
export const AXIS = 34;

export class Viewport {
  /**
   * @param {Interval} extent
   * @param {Interval} window
   */
  constructor(extent, window) {
    this.extent = extent;
    this.from = window[0];
    this.to = window[1];
    this.scroll = 0;
    // Size of the plot in CSS pixels, and width of the names at its left.
    this.width = 1;
    this.height = 1;
    this.gutter = 210;
    // Height of the pinned lines, which do not scroll.
    this.pinned = 0;
    /** Least width of the names, if another view has wider ones. */
    this.leastGutter = 0;
  }

  get span() {
    return this.to - this.from;
  }

  get secondsPerPixel() {
    return this.span / this.width;
  }

  /** @param {number} time */
  x(time) {
    return ((time - this.from) / this.span) * this.width;
  }

  /** @param {number} x */
  time(x) {
    return this.from + (x / this.width) * this.span;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    const [low, high] = this.extent;
    const all = Math.max(high - low, Number.MIN_VALUE);
    // The precision of doubles limits the zoom.
    const least = Math.max(all * 1e-12, Math.max(Math.abs(from), Math.abs(to)) * 1e-13);
    const span = Math.min(Math.max(to - from, least), all * 1.1);
    const middle = (from + to) / 2;
    const slack = span * 0.05;
    const start = Math.min(Math.max(middle - span / 2, low - slack), high + slack - span);
    this.from = start;
    this.to = start + span;
  }

  /**
   * Multiplies the span by a factor. The time at `x` stays where it is.
   * @param {number} factor
   * @param {number} x
   */
  zoom(factor, x) {
    const at = this.time(x);
    const span = this.span * factor;
    const part = x / this.width;
    this.show(at - span * part, at + span * (1 - part));
  }

  /** @param {number} pixels */
  pan(pixels) {
    const by = pixels * this.secondsPerPixel;
    this.show(this.from + by, this.to + by);
  }

  fit() {
    const [low, high] = this.extent;
    const slack = (high - low) * 0.01;
    this.show(low - slack, high + slack);
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  around(start, end) {
    const span = Math.max(end - start, this.span * 1e-3);
    this.show(start - span, end + span);
  }

  /**
   * Scrolls to a time without zooming, unless the time is visible.
   * @param {number} start
   * @param {number} end
   */
  reveal(start, end) {
    if (end >= this.from + this.span * 0.02 && start <= this.to - this.span * 0.02) return;
    const middle = (start + end) / 2;
    this.show(middle - this.span / 2, middle + this.span / 2);
  }

  /**
   * Returns the position of a height of the layout, below the axis.
   * @param {number} height
   */
  y(height) {
    return height < this.pinned ? height : height - this.scroll;
  }

  /**
   * Returns the height of the layout at a position below the axis.
   * @param {number} y
   */
  heightAt(y) {
    return y < this.pinned ? y : y + this.scroll;
  }

  /**
   * Scrolls to a height of the layout, unless it is visible.
   * @param {number | undefined} top
   */
  scrollTo(top) {
    if (top === undefined || top < this.pinned) return;
    if (top < this.scroll + this.pinned || top > this.scroll + this.height - 40) this.scroll = Math.max(0, top - this.height / 2);
  }
}
