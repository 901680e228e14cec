// Answers from the data in the page itself, which `pj_view --html` writes.
import { parseBlocks } from "./blocks.js";
import { flameOf } from "./flame.js";
import { grouped } from "./model.js";
/** @import { Block, Details, Hit, HitsAnswer, ModelAnswer, Place, ProfileAnswer, Row, Source, TypedValue, Within } from "./types" */

/** Blocks by lane. @typedef {Map<number, Block[]>} Lanes */
/** Types by lane. @typedef {Map<number, number>} TypeOf */

/** @param {string} text */
export async function decoded(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/**
 * Returns the source for an HTML file. For each lane, the file has either rows or bins of some levels, finest first.
 * @param {Element} model
 * @param {Element} blocks
 * @returns {Promise<Source>}
 */
export async function embeddedSource(model, blocks) {
  return sourceOf(JSON.parse(model.textContent || ""), parseBlocks(await decoded((blocks.textContent || "").trim())));
}

/**
 * @param {ModelAnswer} data
 * @param {Block[]} blocks
 * @returns {Source}
 */
export function sourceOf(data, blocks) {
  const lanes = grouped(blocks, (block) => block.lane);
  /** @type {TypeOf} */
  const typeOf = new Map(data.lanes.id.map((id, i) => [id, data.lanes.type[i]]));
  return {
    embedded: lanes,
    progress: async () => ({ state: "ready", done: 0, all: null, events: 0 }),
    model: async () => data,
    values: async () => [],
    value: async (text) => valueNamed(data, text),
    tiles: async () => [],
    folded: async () => [],
    row: async (lane, row) => rowNumbered(data, lanes, typeOf, lane, row),
    profile: async (from, to) => profileOf(data, lanes, typeOf, from, to),
    hits: async (within, text, first, count) => hitsOf(data, lanes, typeOf, within, text.toLowerCase(), first, count),
    classes: async () => data.classes || [],
    fields: async (_lane, _name, rows) => rows.map(() => null),
    flame: async (container, from, to) => flameOf(data, lanes, typeOf, container, from, to),
    find: async (type, value, at, back) => nextRow(lanes, typeOf, { type, value }, at, back),
  };
}

/**
 * @param {ModelAnswer} data
 * @param {Lanes} lanes
 * @param {TypeOf} typeOf
 * @param {number} lane
 * @param {number} row
 * @returns {Details | null}
 */
function rowNumbered(data, lanes, typeOf, lane, row) {
  const block = lanes.get(lane)?.find((it) => it.isRows);
  const i = block?.number.indexOf(row) ?? -1;
  if (!block || i < 0) return null;
  /** @type {Details} */
  const found = { lane, row, start: block.start[i], end: block.end[i], value: block.values[i], fields: [] };
  const nature = data.types[typeOf.get(lane) ?? 0].nature;
  if (nature === "state") found.imbrication = block.others[i];
  if (nature === "variable") found.height = block.height[i];
  if (nature === "link") Object.assign(found, { from: block.others[i], to: block.goals[i] });
  return found;
}

/**
 * Returns the profile of a window. It is exact for the whole trace and for single rows, and otherwise estimated from
 * bins.
 * @param {ModelAnswer} data
 * @param {Lanes} lanes
 * @param {TypeOf} typeOf
 * @param {number} from
 * @param {number} to
 * @returns {ProfileAnswer}
 */
function profileOf(data, lanes, typeOf, from, to) {
  if (data.profile && from <= data.extent[0] && to >= data.extent[1]) return { ...data.profile, from, to };
  let isAbout = false;
  /** @type {Map<string, number>} */
  const states = new Map();
  /** @type {Map<string, number>} */
  const events = new Map();
  let links = 0;
  /** @type {(map: Map<string, number>, type: number, value: number, amount: number) => void} */
  const add = (map, type, value, amount) => {
    const key = `${type} ${value}`;
    map.set(key, (map.get(key) || 0) + amount);
  };
  for (const [lane, blocks] of lanes) {
    const [block, type] = [blocks[0], typeOf.get(lane) ?? 0];
    const nature = data.types[type].nature;
    const width = data.tick * 2 ** block.level;
    if (!block.isRows && nature !== "variable") isAbout = true;
    for (let i = 0; i < block.n; i++) {
      const start = block.isRows ? block.start[i] : data.origin + (block.first + i) * width;
      const end = block.isRows ? block.end[i] : start + width;
      if (nature === "state") {
        const overlap = Math.min(end, to) - Math.max(start, from);
        if (overlap <= 0) continue;
        if (block.isRows) add(states, type, block.values[i], overlap);
        else for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) add(states, type, block.values[j], block.amounts[j] * overlap);
      } else if (start >= from && start < to && nature === "link") {
        links += block.isRows ? 1 : block.starts[i];
      } else if (start >= from && start < to && nature === "event") {
        if (block.isRows) add(events, type, block.values[i], 1);
        else for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) add(events, type, block.values[j], block.amounts[j]);
      }
    }
  }
  /** @type {(map: Map<string, number>) => [number, number, number][]} */
  const list = (map) => [...map].map(([key, amount]) => {
    const [type, value] = key.split(" ").map(Number);
    return [type, value, amount];
  });
  return { from, to, isAbout, states: list(states), events: list(events), links, pairs: [] };
}

/**
 * @param {ModelAnswer} data
 * @param {string} text
 * @returns {TypedValue | null}
 */
function valueNamed(data, text) {
  const used = [...new Set(data.lanes.type)].sort((a, b) => a - b);
  const all = used.flatMap((type) => data.types[type].values.map(([name], value) => ({ type, value, name: name.toLowerCase() })));
  const found = all.find((it) => it.name === text) || all.find((it) => it.name.startsWith(text)) || all.find((it) => it.name.includes(text));
  return found ? { type: found.type, value: found.value } : null;
}

/**
 * @param {ModelAnswer} data
 * @param {Lanes} lanes
 * @param {TypeOf} typeOf
 * @param {Within} within
 * @param {string} text
 * @param {number} first
 * @param {number} count
 * @returns {HitsAnswer}
 */
function hitsOf(data, lanes, typeOf, within, text, first, count) {
  if (within === "key" || within === "field") return { refused: "Keys and fields are not in this file." };
  /** @type {Hit[]} */
  const all = [];
  // Whether lanes that may have hits have no rows in the file.
  let isPartial = false;
  if (within === "container") {
    data.containers.id.forEach((container, i) => {
      if (container !== 0 && data.containers.name[i].toLowerCase().includes(text)) all.push({ container, start: data.containers.start[i] });
    });
  } else {
    const wanted = data.types.map((type) => new Set(type.values.flatMap(([name], value) => (name.toLowerCase().includes(text) ? [value] : []))));
    /** @type {Row[]} */
    const rows = [];
    for (const [lane, [block]] of lanes) {
      const values = wanted[typeOf.get(lane) ?? 0];
      if (values.size === 0) continue;
      if (!block.isRows) {
        isPartial = true;
        continue;
      }
      for (let i = 0; i < block.n; i++) {
        if (values.has(block.values[i])) rows.push({ lane, row: block.number[i], start: block.start[i], end: block.end[i], value: block.values[i] });
      }
    }
    all.push(...rows.sort(inOrder));
  }
  if (isPartial && all.length === 0) return { refused: "The file has no single rows of these lanes; pj_view has them." };
  return { total: all.length, hits: all.slice(first, first + count) };
}

/** @type {(a: Row, b: Row) => number} */
export const inOrder = (a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row;

/**
 * Returns the next row of a value, or the previous one if `back` is true. Continues at the other end of the trace.
 * @param {Lanes} lanes
 * @param {TypeOf} typeOf
 * @param {TypedValue} wanted
 * @param {Place} at
 * @param {boolean} back
 * @returns {Row | null}
 */
function nextRow(lanes, typeOf, { type, value }, at, back) {
  const here = { start: at.time, end: at.time, lane: at.lane, row: at.row };
  /** @type {(a: Row, b: Row) => boolean} */
  const isNearer = (a, b) => (back ? inOrder(a, b) > 0 : inOrder(a, b) < 0);
  /** @type {Row | null} */
  let next = null;
  /** @type {Row | null} */
  let first = null;
  for (const [lane, [block]] of lanes) {
    if (typeOf.get(lane) !== type || !block.isRows) continue;
    for (let i = 0; i < block.n; i++) {
      if (block.values[i] !== value) continue;
      const place = { lane, row: block.number[i], start: block.start[i], end: block.end[i] };
      if (!first || isNearer(place, first)) first = place;
      if (isNearer(here, place) && (!next || isNearer(place, next))) next = place;
    }
  }
  return next || first;
}
