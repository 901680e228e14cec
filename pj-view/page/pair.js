// Shows two traces on one scale of time. Each frame has the whole page of one trace; this module keeps their windows
// together. Times are compared with the zero of their trace, which depends on the alignment.
import { byId, inputById } from "./dom.js";
/** @import { Interval, Page } from "./types" */

const parts = /** @type {HTMLIFrameElement[]} */ ([...document.querySelectorAll("iframe")]);

/**
 * Returns the page in a frame, once it has been built.
 * @param {HTMLIFrameElement} part
 * @returns {Page | undefined}
 */
const pageOf = (part) => /** @type {any} */ (part.contentWindow)?.pajeView?.page;

/** @returns {Page[] | null} */
function pages() {
  const all = parts.map(pageOf);
  return all.every((page) => page !== undefined) ? /** @type {Page[]} */ (all) : null;
}

let zeros = [0, 0];
/** Visible times of both traces, from their zeros. @type {Interval | null} */
let seen = null;
/** First and last times of the traces. @type {Interval[]} */
let extents = [];

/**
 * Returns the time of each trace that belongs together, or null if nothing is selected or marked.
 * @param {string} how
 * @param {Page[]} all
 */
function zerosOf(how, all) {
  if (how === "none") return [0, 0];
  if (how === "start") return extents.map(([first]) => first);
  const starts = all.map(({ state }) => (how === "marks" ? state.marks[0]?.time : state.selected?.start));
  return starts.every(Number.isFinite) ? /** @type {number[]} */ (starts) : null;
}

/**
 * Shows times, given from the zeros.
 * @param {Page} page
 * @param {number} at
 * @param {Interval} times
 */
function show({ viewport, state }, at, [from, to]) {
  viewport.show(from + zeros[at], to + zeros[at]);
  state.changed("window");
}

/**
 * Aligns the traces. Both can then be moved to all times of either.
 * @param {Page[]} all
 * @param {string} how
 */
function align(all, how) {
  const found = zerosOf(how, all);
  const wanted = how === "marks" ? "Mark a time in each trace (M)" : "Select a row in each trace";
  byId("said").textContent = found ? "" : `${wanted}, then choose this again.`;
  if (!found) return;
  zeros = found;
  const low = Math.min(...extents.map(([first], at) => first - zeros[at]));
  const high = Math.max(...extents.map(([, last], at) => last - zeros[at]));
  all.forEach(({ viewport }, at) => {
    viewport.extent = [low + zeros[at], high + zeros[at]];
  });
}

/**
 * Returns the visible times of a trace, from its zero.
 * @param {Page} page
 * @param {number} at
 * @returns {Interval}
 */
const timesOf = ({ viewport }, at) => [viewport.from - zeros[at], viewport.to - zeros[at]];

/** @param {Page[]} all */
function begin(all) {
  extents = all.map(({ data }) => data.model.extent);
  align(all, "start");
  all.forEach(({ viewport, state }) => {
    viewport.fit();
    state.changed("window");
  });
  seen = timesOf(all[0], 0);
}

/** Before each frame, moves the trace that the reader has not moved. */
function follow() {
  requestAnimationFrame(follow);
  const all = pages();
  if (!all) return;
  // Names of both traces take equally much room, so that equal times are one above the other.
  const gutter = Math.max(...all.map(({ viewport }) => viewport.gutter));
  for (const { viewport, scene } of all) {
    if (viewport.gutter < gutter) {
      viewport.leastGutter = gutter;
      scene.redraw();
    }
  }
  if (!seen) begin(all);
  if (!seen || !inputById("together").checked) return;
  const before = seen;
  const slack = (before[1] - before[0]) * 1e-9;
  const moved = all.findIndex((page, at) => timesOf(page, at).some((time, i) => Math.abs(time - before[i]) > slack));
  if (moved < 0) return;
  seen = timesOf(all[moved], moved);
  show(all[1 - moved], 1 - moved, seen);
}

byId("align").addEventListener("change", () => {
  const all = pages();
  if (!all) return;
  align(all, inputById("align").value);
  if (seen) show(all[1], 1, [all[0].viewport.from - zeros[0], all[0].viewport.to - zeros[0]]);
  seen = timesOf(all[0], 0);
});

Object.assign(window, { pajePair: { pages, zeros: () => zeros } });
follow();
