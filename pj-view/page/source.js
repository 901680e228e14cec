// Sources of tiles and answers: the server, or data in the page itself.
import { parseBlocks } from "./blocks.js";

async function fetched(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer;
}

const asked = (path, values) => `${path}?${new URLSearchParams(values)}`;

export function servedSource() {
  const json = async (path) => (await fetched(path)).json();
  return {
    embedded: null,
    progress: () => json("progress"),
    model: () => json("model"),
    values: (type, first) => json(asked("values", { type, first })),
    value: (text) => json(asked("value", { text })),
    tiles: async (level, first, count, rows, lanes) => {
      const query = `tiles?level=${level}&first=${first}&count=${count}&rows=${rows}&lanes=${lanes.join(",")}`;
      return parseBlocks(await (await fetched(query)).arrayBuffer());
    },
    folded: async (level, first, count, containers, hidden) => {
      const query = `folded?level=${level}&first=${first}&count=${count}&containers=${containers.join(",")}&hidden=${hidden.join(",")}`;
      return parseBlocks(await (await fetched(query)).arrayBuffer());
    },
    row: (lane, row) => json(asked("row", { lane, row })),
    profile: (from, to) => json(asked("profile", { from, to })),
    find: (type, value, at, back) => json(asked("find", { type, value, ...at, back: back ? 1 : 0 })),
  };
}

async function decoded(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

// Returns the source for an HTML file. For each lane, the file has either rows or bins of some levels, finest first.
export async function embeddedSource(model, blocks) {
  const data = JSON.parse(model.textContent);
  const lanes = new Map();
  for (const block of parseBlocks(await decoded(blocks.textContent.trim()))) {
    if (!lanes.has(block.lane)) lanes.set(block.lane, []);
    lanes.get(block.lane).push(block);
  }
  const typeOf = new Map(data.lanes.id.map((id, i) => [id, data.lanes.type[i]]));
  const rowsOf = (lane) => lanes.get(lane)?.find((block) => block.isRows);
  return {
    embedded: lanes,
    progress: async () => ({ state: "ready" }),
    model: async () => data,
    value: async (text) => embeddedValue(data, text),
    tiles: async () => [],
    row: async (lane, row) => {
      const block = rowsOf(lane);
      if (!block) return null;
      const i = block.number.indexOf(row);
      const found = { lane, row, start: block.start[i], end: block.end[i], value: block.values[i], fields: [] };
      const nature = data.types[typeOf.get(lane)].nature;
      if (nature === "state") found.imbrication = block.others[i];
      if (nature === "variable") found.height = block.height[i];
      if (nature === "link") Object.assign(found, { from: block.others[i], to: block.goals[i] });
      return found;
    },
    profile: async (from, to) => embeddedProfile(data, lanes, typeOf, from, to),
    find: async (type, value, at, back) => embeddedFind(lanes, typeOf, type, value, at, back),
  };
}

// Returns the profile of a window. It is exact for the whole trace and for single rows, and otherwise estimated from
// bins.
function embeddedProfile(data, lanes, typeOf, from, to) {
  if (from <= data.extent[0] && to >= data.extent[1]) return { ...data.profile, from, to };
  let isAbout = false;
  const sums = { states: new Map(), events: new Map() };
  let links = 0;
  const add = (map, type, value, amount) => {
    const key = `${type} ${value}`;
    map.set(key, (map.get(key) || 0) + amount);
  };
  for (const [lane, blocks] of lanes) {
    const [block, type] = [blocks[0], typeOf.get(lane)];
    const nature = data.types[type].nature;
    const width = data.tick * 2 ** block.level;
    if (!block.isRows && nature !== "variable") isAbout = true;
    for (let i = 0; i < block.n; i++) {
      const start = block.isRows ? block.start[i] : data.origin + (block.first + i) * width;
      const end = block.isRows ? block.end[i] : start + width;
      if (nature === "state") {
        const overlap = Math.min(end, to) - Math.max(start, from);
        if (overlap <= 0) continue;
        if (block.isRows) add(sums.states, type, block.values[i], overlap);
        else for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) add(sums.states, type, block.values[j], block.amounts[j] * overlap);
      } else if (start >= from && start < to && nature === "link") {
        links += block.isRows ? 1 : block.starts[i];
      } else if (start >= from && start < to && nature === "event") {
        if (block.isRows) add(sums.events, type, block.values[i], 1);
        else for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) add(sums.events, type, block.values[j], block.amounts[j]);
      }
    }
  }
  const list = (map) => [...map].map(([key, amount]) => [...key.split(" ").map(Number), amount]);
  return { from, to, isAbout, states: list(sums.states), events: list(sums.events), links, pairs: [] };
}

function embeddedValue(data, text) {
  const used = [...new Set(data.lanes.type)].sort((a, b) => a - b);
  const all = used.flatMap((type) => data.types[type].values.map(([name], value) => ({ type, value, name: name.toLowerCase() })));
  const found = all.find((it) => it.name === text) || all.find((it) => it.name.startsWith(text)) || all.find((it) => it.name.includes(text));
  return found ? { type: found.type, value: found.value } : null;
}

// Returns the next row of a value, or the previous one if `back` is true. Continues at the other end of the trace.
function embeddedFind(lanes, typeOf, type, value, at, back) {
  const here = { start: Number(at.time), lane: Number(at.lane), row: Number(at.row) };
  const order = (a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row;
  const isNearer = back ? (a, b) => order(a, b) > 0 : (a, b) => order(a, b) < 0;
  let [next, first] = [null, null];
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
