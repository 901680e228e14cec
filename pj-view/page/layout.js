// Lays out lines: containers and their lanes.
import { containerOf } from "./model.js";
/** @import { Lane, Layout, Line, Model } from "./types" */
/** @import { State } from "./state.js" */

/** The parts of the state on which the layout depends. @typedef {Pick<State, "folded" | "hiddenTypes" | "order" | "filter" | "pins">} Choice */

const SUBLANE = 17;
const VARIABLE = 40;
const HEADER = 20;
const SUMMARY = 28;
const GAP = 4;

// Maximum factor by which lines grow to fill the window.
const HIGHEST = 2.2;

/**
 * @param {Lane} lane
 * @param {number} stretch
 */
function laneHeight(lane, stretch) {
  if (lane.nature === "variable") return Math.round(VARIABLE * stretch);
  return Math.round((lane.nature === "state" ? lane.depth : 1) * SUBLANE * stretch) + GAP;
}

/**
 * Lays out the lines. If there are only a few, they grow to fill the height.
 * @param {Model} model
 * @param {Choice} state
 * @param {number} height
 */
export function buildLayout(model, state, height) {
  const natural = layoutOf(model, state, 1);
  const headers = natural.lines.reduce((sum, line) => sum + (line.lane ? 0 : line.height), 0);
  const stretch = (height - headers) / Math.max(natural.height - headers, 1);
  return stretch > 1.05 ? layoutOf(model, state, Math.min(stretch * 0.98, HIGHEST)) : natural;
}

/**
 * Returns the containers whose names match, with their ancestors and descendants. Returns null if all containers are
 * shown.
 * @param {Model} model
 * @param {string} text
 */
function matching(model, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  /** @type {Set<number>} */
  const shown = new Set();
  /** @param {number} id */
  const addAll = (id) => {
    const stack = [id];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      shown.add(at);
      stack.push(...containerOf(model, at).children);
    }
  };
  for (const it of model.containers.values()) {
    if (it.id === 0 || !it.name.toLowerCase().includes(wanted)) continue;
    addAll(it.id);
    for (let at = it.parent; at !== 0 && !shown.has(at); at = containerOf(model, at).parent) shown.add(at);
  }
  return shown;
}

/**
 * @param {Model} model
 * @param {Choice} state
 * @param {number} stretch
 * @returns {Layout}
 */
function layoutOf(model, state, stretch) {
  const shown = matching(model, state.filter);
  /** @type {Line[]} */
  const lines = [];
  /** @type {Map<number, number>} */
  const places = new Map();
  let top = 0;
  /** @param {Omit<Line, "top">} line */
  const push = (line) => {
    lines.push({ ...line, top });
    top += line.height;
  };
  /** @type {{ id: number, indent: number, within: number | null, isPin?: boolean }[]} */
  const stack = [{ id: 0, indent: -1, within: null }];
  for (const id of [...state.pins].reverse()) stack.push({ id, indent: 0, within: null, isPin: true });
  let pinned = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { id, indent, within, isPin } = next;
    const it = containerOf(model, id);
    if (id === 0) pinned = top;
    // A pinned container is only at the top.
    else if (!isPin && state.pins.has(id)) continue;
    if (id !== 0 && shown && !shown.has(id)) continue;
    const lanes = it.lanes.filter((lane) => lane.nature !== "link" && !state.hiddenTypes.has(lane.type));
    const isFolded = state.folded.has(id);
    const at = { container: id, indent: Math.max(indent, 0), folds: it.children.length > 0 || lanes.length > 1, folded: isFolded };
    if (within === null) {
      places.set(id, top + HEADER / 2);
      if (lanes.length === 1 && !(isFolded && it.children.length === 0)) {
        push({ ...at, label: id === 0 ? model.types[lanes[0].type].name : it.name, lane: lanes[0], height: laneHeight(lanes[0], stretch) });
        places.set(id, top - laneHeight(lanes[0], stretch) / 2);
      } else if (id !== 0 || lanes.length > 0) {
        const summary = isFolded && it.hasStates;
        push({ ...at, label: id === 0 ? model.name : it.name, lane: null, summary, height: summary ? SUMMARY : HEADER });
        if (!isFolded) {
          lanes.forEach((lane, i) => {
            const label = model.types[lane.type].name;
            push({ container: id, indent: at.indent + 1, label, lane, minor: true, height: laneHeight(lane, stretch) });
            if (i === 0) places.set(id, top - laneHeight(lane, stretch) / 2);
          });
        }
      }
    } else {
      places.set(id, places.get(within) ?? 0);
    }
    const inside = within ?? (isFolded ? id : null);
    const children = state.order.get(id) || it.children;
    for (let i = children.length - 1; i >= 0; i--) stack.push({ id: children[i], indent: indent + 1, within: inside });
  }
  /** @type {Map<number, Line>} */
  const byLane = new Map();
  for (const line of lines) {
    if (line.lane) byLane.set(line.lane.id, line);
  }
  return { lines, places, height: top, pinned, byLane };
}

/**
 * Returns the lines on the screen: the pinned lines, and the lines below them.
 * @param {Layout} layout
 * @param {{ scroll: number, height: number, pinned: number }} viewport
 * @returns {[pinned: Line[], others: Line[]]}
 */
export function linesOnScreen(layout, { scroll, height, pinned }) {
  const others = visibleLines(layout, scroll + pinned, scroll + height);
  if (pinned === 0) return [[], others];
  return [visibleLines(layout, 0, pinned), others.filter((line) => line.top >= pinned)];
}

/**
 * Returns the lines between two heights.
 * @param {Layout} layout
 * @param {number} from
 * @param {number} to
 */
export function visibleLines(layout, from, to) {
  const { lines } = layout;
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].top + lines[middle].height < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < lines.length && lines[end].top < to) end += 1;
  return lines.slice(low, end);
}

/**
 * Returns the top and the height of an imbrication's states, relative to their line.
 * @param {Line} line
 * @param {number} imbrication
 * @returns {[top: number, height: number]}
 */
export function sublane(line, imbrication) {
  const depth = line.lane?.depth || 1;
  const height = (line.height - GAP) / depth;
  return [GAP / 2 + height * Math.min(imbrication, depth - 1), height];
}

/**
 * Returns whether the cursor is at a line.
 * @param {Line} line
 * @param {{ cursor: number | null, cursorLane: number | null }} state
 */
export const isAt = (line, { cursor, cursorLane }) => line.container === cursor && (line.lane?.id ?? null) === cursorLane;
