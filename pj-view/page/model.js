// Model of the trace: types, values, containers and lanes.
import { Units } from "./units.js";
/** @import { Container, Data, Lane, Model, ModelAnswer, Type, Value, ValueAnswer } from "./types" */

export const OTHERS = 0xffffffff;

/** Maximum number of levels of nested states that are drawn separately. */
const DEEPEST = 12;

/** @param {string} hex */
export function colorNumber(hex) {
  const rgb = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/** @type {(answer: ValueAnswer) => Value} */
export const knownValue = ([name, color, own]) => ({ name, color, own, number: colorNumber(color) });

/**
 * Returns the first values of a type. Other values are added when they are fetched.
 * @param {ModelAnswer["types"][0]} type
 */
function valuesOf(type) {
  const values = type.values.map(knownValue);
  values.length = type.count;
  return values;
}

/** @type {(data: ModelAnswer) => Model} */
export function buildModel(data) {
  /** @type {Map<number, Container>} */
  const containers = new Map();
  const of = data.containers;
  of.id.forEach((id, i) => {
    containers.set(id, { id, name: of.name[i], type: of.type[i], parent: of.parent[i], start: of.start[i], end: of.end[i], children: [], lanes: [] });
  });
  for (const it of containers.values()) {
    if (it.id !== 0) containers.get(it.parent)?.children.push(it.id);
  }
  /** @type {Type[]} */
  const types = data.types.map((type, id) => ({ ...type, id, number: colorNumber(type.color), values: valuesOf(type), used: false }));
  /** @type {Map<number, Lane>} */
  const lanes = new Map();
  const from = data.lanes;
  from.id.forEach((id, i) => {
    const type = from.type[i];
    const lane = {
      id, container: from.container[i], type, nature: types[type].nature, rows: from.rows[i],
      depth: Math.min(from.depth[i], DEEPEST), min: from.min[i], max: from.max[i],
    };
    lanes.set(id, lane);
    types[type].used = true;
    containers.get(lane.container)?.lanes.push(lane);
  });
  for (const it of containers.values()) it.lanes.sort((a, b) => a.type - b.type);
  // Marks containers with states, and their ancestors. Parents come before children.
  for (const it of [...containers.values()].reverse()) {
    it.hasStates ||= it.lanes.some((lane) => lane.nature === "state");
    const outer = containers.get(it.parent);
    if (outer && it.id !== 0) outer.hasStates ||= it.hasStates;
  }
  return { ...data, types, containers, lanes, units: new Units(data.second) };
}

/**
 * Returns a container that is known to exist.
 * @param {Model} model
 * @param {number} id
 * @returns {Container}
 */
export function containerOf(model, id) {
  const found = model.containers.get(id);
  if (!found) throw new Error(`container ${id} does not exist`);
  return found;
}

/**
 * Returns a lane that is known to exist.
 * @param {Model} model
 * @param {number} id
 * @returns {Lane}
 */
export function laneOf(model, id) {
  const found = model.lanes.get(id);
  if (!found) throw new Error(`lane ${id} does not exist`);
  return found;
}

/**
 * Returns the total lifetime of all containers that have states of a type, within a window.
 * @param {Model} model
 * @param {number} type
 * @param {number} from
 * @param {number} to
 */
export function lifetimes(model, type, from, to) {
  let sum = 0;
  for (const lane of model.lanes.values()) {
    const it = lane.type === type ? model.containers.get(lane.container) : null;
    if (it) sum += Math.max(0, Math.min(it.end, to) - Math.max(it.start, from));
  }
  return sum;
}

/**
 * Groups items by a key. Keys are in the order of their first items.
 * @template Item, Key
 * @param {Iterable<Item>} items
 * @param {(item: Item) => Key} keyOf
 */
export function grouped(items, keyOf) {
  /** @type {Map<Key, Item[]>} */
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const grey = { color: "#888888", number: 0xff888888 };

/**
 * Returns a value, or a grey placeholder until it is fetched.
 * @param {Pick<Data, "model" | "names">} data
 * @param {number} type
 * @param {number} value
 * @returns {Value}
 */
export function valueOf({ model, names }, type, value) {
  if (value === OTHERS) return { name: "others", ...grey };
  const known = model.types[type].values[value];
  if (!known) names.want(type, value);
  return known || { name: "…", ...grey };
}

/**
 * Returns the path of a container, beginning with its outermost ancestor.
 * @param {Model} model
 * @param {number} id
 */
export function pathOf(model, id) {
  const names = [];
  for (let at = model.containers.get(id); at && at.id !== 0; at = model.containers.get(at.parent)) names.unshift(at.name);
  return names.join(" / ") || "root";
}
