// Model of the trace: types, values, containers and lanes.

export const OTHERS = 0xffffffff;

// Length of a second in the trace's unit of time. All times are in that unit until they are shown.
export let second = 1;

export function colorNumber(hex) {
  const rgb = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

export const knownValue = ([name, color, own]) => ({ name, color, own, number: colorNumber(color) });

// Returns the first values of a type. Other values are added when they are fetched.
function valuesOf(type) {
  const values = type.values.map(knownValue);
  values.length = type.count;
  return values;
}

export function buildModel(data) {
  second = data.second;
  const containers = new Map();
  const of = data.containers;
  of.id.forEach((id, i) => {
    containers.set(id, { id, name: of.name[i], type: of.type[i], parent: of.parent[i], start: of.start[i], end: of.end[i], children: [], lanes: [] });
  });
  for (const it of containers.values()) {
    if (it.id !== 0) containers.get(it.parent)?.children.push(it.id);
  }
  const lanes = new Map();
  const from = data.lanes;
  from.id.forEach((id, i) => {
    const type = data.types[from.type[i]];
    const lane = {
      id, container: from.container[i], type: from.type[i], nature: type.nature, rows: from.rows[i],
      depth: Math.min(from.depth[i], 12), min: from.min[i], max: from.max[i],
    };
    lanes.set(id, lane);
    containers.get(lane.container)?.lanes.push(lane);
  });
  for (const it of containers.values()) it.lanes.sort((a, b) => a.type - b.type);
  // Marks containers with states, and their ancestors. Parents come before children.
  for (const it of [...containers.values()].reverse()) {
    it.hasStates ||= it.lanes.some((lane) => lane.nature === "state");
    const outer = containers.get(it.parent);
    if (outer && it.id !== 0) outer.hasStates ||= it.hasStates;
  }
  const types = data.types.map((type, id) => ({
    ...type,
    id,
    number: colorNumber(type.color),
    values: valuesOf(type),
    used: false,
  }));
  for (const lane of lanes.values()) types[lane.type].used = true;
  return { ...data, types, containers, lanes };
}

// Returns the total lifetime of all containers that have states of a type, within a window.
export function lifetimes(model, type, from, to) {
  let sum = 0;
  for (const lane of model.lanes.values()) {
    const it = lane.type === type && model.containers.get(lane.container);
    if (it) sum += Math.max(0, Math.min(it.end, to) - Math.max(it.start, from));
  }
  return sum;
}

const grey = { color: "#888888", number: 0xff888888 };

// Returns a value, or a grey placeholder until it is fetched.
export function valueOf(app, type, value) {
  if (value === OTHERS) return { name: "others", ...grey };
  const known = app.model.types[type].values[value];
  if (!known) app.names.want(type, value);
  return known || { name: "…", ...grey };
}

// Returns the path of a container, beginning with its outermost ancestor.
export function pathOf(model, id) {
  const names = [];
  for (let at = model.containers.get(id); at && at.id !== 0; at = model.containers.get(at.parent)) names.unshift(at.name);
  return names.join(" / ") || "root";
}

export function formatTime(time, around = Math.abs(time)) {
  const seconds = time / second;
  const unit = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([size]) => around / second >= size) || [1e-9, "ns"];
  return seconds === 0 ? "0 s" : `${Number((seconds / unit[0]).toPrecision(6))} ${unit[1]}`;
}
