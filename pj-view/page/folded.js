// Computes the contents of a folded container, which are the sum of the outermost states of all lanes in
// it.
import { containerOf } from "./model.js";
/** @import { Block, Lane, Model } from "./types" */

// Number of bins into which an HTML file divides the time of a folded container.
const BINS = 2048;

/**
 * Returns the name of a folded container's tiles. It includes the hidden types, since they change the contents.
 * @type {(id: number, hidden: Iterable<number>) => string}
 */
export const foldedName = (id, hidden) => `${id} ${[...hidden].sort((a, b) => a - b).join(",")}`;

/** @param {string} name */
export function foldedOf(name) {
  const [id, hidden] = name.split(" ");
  return { id: Number(id), hidden: hidden ? hidden.split(",").map(Number) : [] };
}

/**
 * @param {Model} model
 * @param {number} id
 * @param {number[]} hidden
 */
function lanesWithin(model, id, hidden) {
  /** @type {Lane[]} */
  const found = [];
  const stack = [id];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const it = containerOf(model, at);
    found.push(...it.lanes.filter((lane) => lane.nature === "state" && !hidden.includes(lane.type)));
    stack.push(...it.children);
  }
  return found;
}

/**
 * Computes the block of a folded container from blocks of lanes, as the program would send it.
 * @param {Model} model
 * @param {Map<number, Block[]>} blocksOf
 * @param {string} name
 * @returns {Block}
 */
export function foldedBlock(model, blocksOf, name) {
  const { id, hidden } = foldedOf(name);
  const [from, to] = model.extent;
  const level = Math.max(0, Math.ceil(Math.log2((to - from) / BINS / model.tick)));
  const width = model.tick * 2 ** level;
  const first = Math.max(0, Math.floor((from - model.origin) / width));
  const n = Math.max(1, Math.ceil((to - model.origin) / width) - first);
  /** @type {Map<string, number>[]} */
  const bins = Array.from({ length: n }, () => new Map());
  const starts = new Uint32Array(n);
  const lanes = lanesWithin(model, id, hidden);
  /** @type {(time: number) => number} */
  const place = (time) => Math.max(0, Math.min(n - 1, Math.floor((time - model.origin) / width) - first));
  /** @type {(type: number, value: number, start: number, end: number, weight: number) => void} */
  const add = (type, value, start, end, weight) => {
    for (let i = place(start), last = place(end); i <= last; i++) {
      const low = model.origin + (first + i) * width;
      const part = ((Math.min(end, low + width) - Math.max(start, low)) / width) * weight;
      const key = `${value} ${type}`;
      if (part > 0) bins[i].set(key, (bins[i].get(key) || 0) + part / lanes.length);
    }
  };
  for (const lane of lanes) {
    const block = blocksOf.get(lane.id)?.[0];
    if (!block) continue;
    const size = model.tick * 2 ** block.level;
    for (let i = 0; i < block.n; i++) {
      if (block.isRows) {
        starts[place(block.start[i])] += 1;
        if (block.others[i] === 0) add(lane.type, block.values[i], block.start[i], block.end[i], 1);
        continue;
      }
      const at = model.origin + (block.first + i) * size;
      starts[place(at)] += block.starts[i];
      for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
        if (block.others[j] === 0) add(lane.type, block.values[j], at, at + size, block.amounts[j]);
      }
    }
  }
  /** @type {any} */
  const block = { isRows: false, kind: 6, level, first, n, starts, ends: [], values: [], others: [], amounts: [] };
  for (const shares of bins) {
    for (const [key, amount] of shares) {
      const [value, type] = key.split(" ").map(Number);
      block.values.push(value);
      block.others.push(type);
      block.amounts.push(amount);
    }
    block.ends.push(block.values.length);
  }
  return block;
}
