// Folds and moves containers, and moves the cursor of the keyboard through them.
import { isAt } from "./layout.js";
import { containerOf } from "./model.js";
/** @import { Model, Page } from "./types" */

/** @typedef {Pick<Page, "data" | "state" | "viewport" | "scene" | "live">} Parts */

/**
 * @param {Parts} page
 * @param {number} id
 */
export function toggleFold({ state }, id) {
  if (!state.folded.delete(id)) state.folded.add(id);
  state.changed("layout");
}

/**
 * Returns the container of the selected row.
 * @param {Parts} page
 */
export function selectedContainer({ data, state }) {
  return state.selected && (data.model.lanes.get(state.selected.lane)?.container ?? null);
}

/**
 * Pins a container to the top, or unpins it.
 * @param {Parts} page
 * @param {number | null} id
 */
export function togglePin({ data, state, live }, id) {
  if (!id) return;
  const isPinned = !state.pins.delete(id);
  if (isPinned) state.pins.add(id);
  state.changed("layout");
  live.say(`${containerOf(data.model, id).name}, ${isPinned ? "pinned" : "not pinned"}`);
}

/**
 * @param {Model} model
 * @param {number} id
 */
function ancestors(model, id) {
  const found = [];
  for (let at = id; at !== 0; at = containerOf(model, at).parent) found.push(at);
  return found;
}

/**
 * Returns the children of a container in the order in which `list` has the moved one where `onto` is, or null if that
 * changes nothing. `onto` is a sibling or one of its descendants.
 * @param {Model} model
 * @param {Map<number, number[]>} order
 * @param {number} moved
 * @param {number} onto
 */
export function reordered(model, order, moved, onto) {
  if (moved === 0) return null;
  const { parent } = containerOf(model, moved);
  const target = ancestors(model, onto).find((id) => containerOf(model, id).parent === parent);
  if (target === undefined || target === moved) return null;
  const list = [...(order.get(parent) || containerOf(model, parent).children)];
  const [from, to] = [list.indexOf(moved), list.indexOf(target)];
  list.splice(from, 1);
  list.splice(to, 0, moved);
  return list;
}

/**
 * Moves a container to the position of a sibling.
 * @param {Parts} page
 * @param {number} moved
 * @param {number} onto
 */
export function reorder({ data, state }, moved, onto) {
  const list = reordered(data.model, state.order, moved, onto);
  if (!list) return;
  state.order.set(containerOf(data.model, moved).parent, list);
  state.changed("layout");
}

/**
 * Tells screen readers where the cursor is.
 * @param {Parts} page
 */
function announce({ data, state, scene, viewport, live }) {
  const line = scene.layout.lines.find((it) => isAt(it, state)) || scene.layout.lines.find((it) => it.container === state.cursor);
  if (!line) return;
  viewport.scrollTo(line.top);
  const { children, name } = containerOf(data.model, line.container);
  const fold = line.folds && !line.minor ? (line.folded ? ", folded" : ", unfolded") : "";
  const rows = line.lane ? `, ${line.lane.rows} rows` : "";
  const inside = !line.minor && children.length > 0 ? `, ${children.length} in it` : "";
  live.say(`${line.label}${line.minor ? ` of ${name}` : ""}${fold}${rows}${inside}`);
}

/**
 * Moves the cursor to the next or previous line: a container, or one of its lanes.
 * @param {Parts} page
 * @param {number} by
 */
export function moveCursor(page, by) {
  const { state, viewport, scene } = page;
  const { lines } = scene.layout;
  const here = lines.findIndex((line) => isAt(line, state));
  const seen = lines.findIndex((line) => line.top + line.height > viewport.scroll);
  const next = lines[here < 0 ? seen : Math.max(0, Math.min(lines.length - 1, here + by))];
  if (!next) return;
  state.cursor = next.container;
  state.cursorLane = next.lane?.id ?? null;
  state.changed("look");
  announce(page);
}

/**
 * Folds or unfolds the container at the cursor. With `alike`, also all other containers of its type.
 * @param {Parts} page
 * @param {boolean} alike
 */
export function foldCursor(page, alike) {
  const { state } = page;
  const { model } = page.data;
  const it = state.cursor === null ? undefined : model.containers.get(state.cursor);
  if (!it) return;
  const isFolded = state.folded.has(it.id);
  const those = alike ? [...model.containers.values()].filter((other) => other.type === it.type) : [it];
  for (const { id } of those) {
    if (isFolded) state.folded.delete(id);
    else state.folded.add(id);
  }
  state.cursorLane = null;
  state.changed("layout");
  announce(page);
}

/**
 * Moves the container at the cursor up or down among its siblings.
 * @param {Parts} page
 * @param {number} by
 */
export function shiftCursor(page, by) {
  const { cursor, order } = page.state;
  if (!cursor) return;
  const { parent } = containerOf(page.data.model, cursor);
  const list = order.get(parent) || containerOf(page.data.model, parent).children;
  const other = list[list.indexOf(cursor) + by];
  if (other !== undefined) reorder(page, cursor, other);
  announce(page);
}
