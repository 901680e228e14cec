// Flame view: the time of nested states on the screen by the path of the states around them, such as stacks of calls.
import { button, byId, el, quiet } from "./dom.js";
import { grouped, pathOf, valueOf } from "./model.js";
/** @import { Block, FlameAnswer, ModelAnswer, Page } from "./types" */

/** Height of a row of boxes in CSS pixels. */
const ROW = 19;

/** Least width of a box, in parts of the whole. */
const NARROWEST = 0.002;

/**
 * A box of the picture: a path of nested states.
 * @typedef {{ type: number, value: number, seconds: number, count: number, depth: number, left: number, width: number }} Box
 */

/**
 * Lays out paths: below the box of a state are the boxes of the states in it, longest first. Leaves out narrow boxes.
 * @param {NonNullable<FlameAnswer["paths"]>} paths
 * @returns {Box[]}
 */
export function boxesOf(paths) {
  const inside = grouped(paths.keys(), (i) => paths[i][0]);
  const all = (inside.get(null) || []).reduce((sum, i) => sum + paths[i][3], 0);
  /** @type {Box[]} */
  const boxes = [];
  /** @type {[parent: number | null, depth: number, left: number][]} */
  const stack = [[null, 0, 0]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [parent, depth, begin] = next;
    let left = begin;
    for (const i of (inside.get(parent) || []).sort((a, b) => paths[b][3] - paths[a][3])) {
      const [, type, value, seconds, count] = paths[i];
      const width = seconds / all;
      if (!(width >= NARROWEST)) continue;
      boxes.push({ type, value, seconds, count, depth, left, width });
      stack.push([i, depth + 1, left]);
      left += width;
    }
  }
  return boxes.sort((a, b) => a.depth - b.depth || a.left - b.left);
}

/**
 * Computes the answer from rows in the page, as flame.rs does.
 * @param {ModelAnswer} data
 * @param {Map<number, Block[]>} lanes
 * @param {Map<number, number>} typeOf
 * @param {number} container
 * @param {number} from
 * @param {number} to
 * @returns {FlameAnswer}
 */
export function flameOf(data, lanes, typeOf, container, from, to) {
  const { id, parent } = data.containers;
  const parents = new Map(id.map((it, i) => [it, parent[i]]));
  /** @param {number} it */
  const isWithin = (it) => {
    let at = it;
    while (at !== container && at !== 0) at = parents.get(at) ?? 0;
    return at === container;
  };
  /** @type {NonNullable<FlameAnswer["paths"]>} */
  const paths = [];
  /** @type {Map<string, number>} */
  const known = new Map();
  for (const [i, lane] of data.lanes.id.entries()) {
    const type = typeOf.get(lane) ?? 0;
    const block = lanes.get(lane)?.[0];
    if (!block || data.types[type].nature !== "state" || !isWithin(data.lanes.container[i])) continue;
    if (!block.isRows) return { refused: "This file does not have all states." };
    // States come before those nested in them.
    const order = [...block.start.keys()].filter((row) => block.start[row] < to && block.end[row] > from);
    /** @type {number[]} */
    let around = [];
    for (const row of order) {
      around = around.slice(0, block.others[row]);
      const outer = around.at(-1) ?? null;
      const key = `${outer} ${type} ${block.values[row]}`;
      const at = known.get(key) ?? paths.length;
      if (at === paths.length) {
        known.set(key, at);
        paths.push([outer, type, block.values[row], 0, 0]);
      }
      paths[at][3] += Math.min(block.end[row], to) - Math.max(block.start[row], from);
      paths[at][4] += 1;
      around.push(at);
    }
  }
  return { paths, others: 0 };
}

/** @param {Page} page */
export function addFlame(page) {
  page.panels.add({ id: "flame", title: "Nested states", open: false, after: ["window", "look", "search", "color"], update: (window) => contents(page, window) });
  byId("flame").classList.add("wide");
}

/**
 * @param {Page} page
 * @param {[number, number]} window
 */
async function contents(page, [from, to]) {
  const { data, state } = page;
  const container = state.cursor ?? 0;
  const { paths, others, refused } = await data.source.flame(container, from, to);
  const where = `${container === 0 ? "All containers" : pathOf(data.model, container)}, ${state.range ? "selected range" : "on the screen"}`;
  if (!paths) return [quiet(where), quiet(refused || "")];
  const boxes = boxesOf(paths);
  if (boxes.length === 0) return [quiet(where), quiet("No states.")];
  const all = boxes.filter((it) => it.depth === 0).reduce((sum, it) => sum + it.seconds, 0);
  const picture = el("div", { className: "boxes", role: "list" }, ...boxes.map((box) => boxNode(page, box, all)));
  picture.style.height = `${(Math.max(...boxes.map((it) => it.depth)) + 1) * ROW}px`;
  const rest = others ? [quiet(`${others} shorter paths are left out.`)] : [];
  return [quiet(where), picture, ...rest];
}

/**
 * @param {Page} page
 * @param {Box} box
 * @param {number} all
 */
function boxNode({ data, state, navigator }, { type, value, seconds, count, depth, left, width }, all) {
  const { name, color } = valueOf(data, type, value);
  const text = `${name}: ${data.model.units.format(seconds)}, ${((100 * seconds) / all).toFixed(1)} %, ${count} times`;
  const isOn = state.search?.type === type && state.search.value === value;
  const made = button("", `${text}. Search it`, () => navigator.search(isOn ? null : { type, value }), name);
  made.setAttribute("aria-label", `${text}, level ${depth + 1}`);
  made.setAttribute("aria-pressed", String(isOn));
  made.style.borderLeftColor = color;
  const node = el("div", { role: "listitem" }, made);
  Object.assign(node.style, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${depth * ROW}px`, height: `${ROW - 1}px` });
  return node;
}
