// Computes answers from the rows in an HTML file, as the program does (comm.rs, histogram.rs).
/** @import { Block, HistogramAnswer, Interval, Lane, MatrixAnswer, MessagesAnswer, MessagesAsked, Model, TypedValue, Wait } from "./types" */

const PER_DOUBLING = 8;
const MOST_BINS = 48;
const LONGEST = 20;
const NO_ROW = 0xffffffff;

/**
 * Returns the lanes of a kind, each with its rows.
 * @param {Model} model
 * @param {Map<number, Block[]>} lanes
 * @param {(lane: Lane) => boolean} wanted
 * @returns {[Lane, Block][]}
 */
function rowsOf(model, lanes, wanted) {
  return [...model.lanes.values()].filter(wanted).map((lane) => {
    const rows = lanes.get(lane.id)?.find((block) => block.isRows);
    if (!rows) throw new Error("The file has no single rows of this part of the trace; pj_view has them.");
    return [lane, rows];
  });
}

/** @param {Lane} lane */
const isLink = (lane) => lane.nature === "link";

/**
 * Calls `see` for the rows of a block that overlap a window.
 * @param {Block} block
 * @param {Interval} window
 * @param {(i: number) => void} see
 */
function overlapping(block, [from, to], see) {
  for (let i = 0; i < block.n; i++) {
    const [start, end] = [block.start[i], block.end[i]];
    if (Math.min(start, end) <= to && Math.max(start, end) >= from) see(i);
  }
}

/**
 * @param {Model} model
 * @param {Map<number, Block[]>} lanes
 * @param {Interval} window
 * @returns {MatrixAnswer}
 */
export function matrixOf(model, lanes, window) {
  const [from, to] = window;
  /** @param {number} time */
  const clipped = (time) => Math.min(Math.max(time, from), to);
  /** @type {Map<string, MatrixAnswer["pairs"][0]>} */
  const pairs = new Map();
  let count = 0;
  for (const [, block] of rowsOf(model, lanes, isLink)) {
    overlapping(block, window, (i) => {
      const key = `${block.others[i]} ${block.goals[i]}`;
      const pair = pairs.get(key) || [block.others[i], block.goals[i], 0, null, 0];
      pair[2] += 1;
      pair[4] += clipped(block.end[i]) - clipped(block.start[i]);
      pairs.set(key, pair);
      count += 1;
    });
  }
  const all = [...pairs.values()].sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  return { from, to, count, omitted: 0, noBytes: "The file has sizes only for the whole trace; pj_view has them.", pairs: all };
}

/**
 * @param {Model} model
 * @param {Map<number, Block[]>} lanes
 * @param {MessagesAsked} which
 * @returns {MessagesAnswer}
 */
export function messagesOf(model, lanes, { window, origin, goal, order, first, count }) {
  /** @type {MessagesAnswer["messages"]} */
  const all = [];
  for (const [lane, block] of rowsOf(model, lanes, isLink)) {
    overlapping(block, window, (i) => {
      const [from, to] = [block.others[i], block.goals[i]];
      if ((origin !== null && origin !== from) || (goal !== null && goal !== to)) return;
      all.push({ lane: lane.id, row: block.number[i], start: block.start[i], end: block.end[i], value: block.values[i], from, to, bytes: null });
    });
  }
  /** @param {MessagesAnswer["messages"][0]} it */
  const key = (it) => (order === "start" ? it.start : it.start - it.end);
  all.sort((a, b) => key(a) - key(b) || a.lane - b.lane || a.row - b.row);
  return { total: all.length, first, messages: all.slice(first, first + count) };
}

/** @param {number} bin */
const edge = (bin) => 2 ** (bin / PER_DOUBLING);

/** @param {number} duration */
export function binOf(duration) {
  const about = Math.floor(Math.log2(duration) * PER_DOUBLING);
  return about + Number(duration >= edge(about + 1)) - Number(duration < edge(about));
}

/**
 * @param {number[]} sorted
 * @param {number} part
 */
function quantile(sorted, part) {
  if (sorted.length === 0) return null;
  const place = part * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

/**
 * @param {Model} model
 * @param {Map<number, Block[]>} lanes
 * @param {TypedValue} wanted
 * @param {Interval} window
 * @returns {HistogramAnswer}
 */
export function histogramOf(model, lanes, { type, value }, [from, to]) {
  /** @type {HistogramAnswer["longest"]} */
  const all = [];
  for (const [lane, block] of rowsOf(model, lanes, (it) => it.type === type)) {
    for (let i = 0; i < block.n; i++) {
      if (block.values[i] !== value || block.start[i] < from || block.start[i] > to) continue;
      all.push([lane.id, block.number[i], Math.max(block.end[i] - block.start[i], 0)]);
    }
  }
  all.sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  const sorted = all.map((it) => it[2]).reverse();
  const positive = sorted.filter((it) => it > 0);
  const [low, high] = positive.length > 0 ? [binOf(positive[0]), binOf(positive[positive.length - 1])] : [0, -1];
  let width = 1;
  while (Math.floor(high / width) - Math.floor(low / width) >= MOST_BINS) width *= 2;
  const first = Math.floor(low / width);
  const counts = Array.from({ length: high < low ? 0 : Math.floor(high / width) - first + 1 }, () => 0);
  for (const it of positive) counts[Math.floor(binOf(it) / width) - first] += 1;
  return {
    count: all.length, zero: all.length - positive.length, mean: all.length > 0 ? sorted.reduce((a, b) => a + b, 0) / all.length : null,
    median: quantile(sorted, 0.5), high: quantile(sorted, 0.95), max: quantile(sorted, 1), isExact: true,
    edges: counts.length > 0 ? Array.from({ length: counts.length + 1 }, (_, i) => edge((first + i) * width)) : [], counts, longest: all.slice(0, LONGEST),
  };
}

/**
 * Returns a wait of a block of waits (tiles.rs).
 * @param {Block} block
 * @param {number} lane
 * @param {number} i
 * @returns {Wait}
 */
export function waitOf(block, lane, i) {
  const release = block.goals[i] === NO_ROW ? null : block.goals[i];
  return { lane, row: block.number[i], kind: block.values[i], start: block.start[i], end: block.end[i], whom: block.others[i], release, released: block.height[i] };
}

/**
 * Returns the waits of a row, and the waits that it ends, the longest one first.
 * @param {Map<number, Block[]>} lanes
 * @param {number} lane
 * @param {number} row
 */
export function waitsOfRow(lanes, lane, row) {
  /** @type {Wait[]} */
  const waits = [];
  /** @type {Wait[]} */
  const causes = [];
  for (const [id, [block]] of lanes) {
    if (!block.isRows || !block.goals) continue;
    for (let i = 0; i < block.n; i++) {
      if (id === lane && block.number[i] === row) waits.push(waitOf(block, id, i));
      if (block.others[i] === lane && block.goals[i] === row) causes.push(waitOf(block, id, i));
    }
  }
  causes.sort((a, b) => b.end - b.start - (a.end - a.start));
  return { waits, causes };
}
