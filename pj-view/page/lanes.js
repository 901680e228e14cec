// Draws lanes: row by row if there are few rows, otherwise the contents of each pixel.
import { OTHERS, valueOf } from "./model.js";
import { foldedName } from "./folded.js";
import { sublane } from "./layout.js";
import { isLight, isNear, mix } from "./raster.js";

const OTHER_GREY = 0xff888888;

// Returns the colours of a type's values. While the user searches for a value, all other values fade.
export function paints(app, type) {
  const { model, state, back } = app;
  const key = `${state.search?.type}:${state.search?.value}:${back}`;
  const kept = app.paints.get(type);
  if (kept?.key === key) return kept.list;
  const list = model.types[type].values.map((value, id) => {
    const fades = state.search && !(state.search.type === type && state.search.value === id);
    // Keeps colours distinguishable from the background.
    const seen = isNear(value.number, back) ? mix(value.number, isLight(back) ? 0xff000000 : 0xffffffff, 0.13) : value.number;
    return fades ? mix(seen, back, 0.78) : seen;
  });
  app.paints.set(type, { key, list });
  return list;
}

// Returns the colour of a value, or grey while it is fetched.
function paint(app, type, value) {
  if (value === OTHERS) return OTHER_GREY;
  return paints(app, type)[value] ?? valueOf(app, type, value).number;
}

// Draws a line's lane, and appends its labels to `labels`. `place` maps times to pixels.
export function drawLane(app, line, place, labels) {
  const { nature, id } = line.lane;
  const segments = app.tiles.segments(id, place.level, app.viewport.from, app.viewport.to);
  for (const segment of segments) {
    const { block } = segment;
    if (nature === "variable") (block.isRows ? variableRows : variableBins)(app, line, segment, place, labels);
    else if (block.isRows) (nature === "state" ? stateRows : eventRows)(app, line, segment, place, labels);
    else shares(app, line, segment, place);
  }
}

// Draws the contents of a folded container.
export function drawFolded(app, line, place) {
  const { from, to } = app.viewport;
  const name = foldedName(line.container, app.state.hiddenTypes);
  for (const segment of app.tiles.segments(name, place.level, from, to)) shares(app, line, segment, place);
}

function stateRows(app, line, { block, from, to }, place, labels) {
  const { raster } = app;
  const colors = paints(app, line.lane.type);
  const [left, right] = [Math.round(place.x(from)), Math.round(place.x(to))];
  for (let i = 0; i < block.n; i++) {
    const [start, end] = [block.start[i], block.end[i]];
    if (end < from || start > to) continue;
    const color = colors[block.values[i]] ?? paint(app, line.lane.type, block.values[i]);
    const [above, height] = sublane(line, block.others[i]);
    const top = Math.round(place.top + above * place.ratio);
    const bottom = Math.round(place.top + (above + height) * place.ratio) - 1;
    const begin = Math.round(place.x(start));
    const x0 = Math.max(begin, left);
    const x1 = Math.min(Math.max(Math.round(place.x(end)), begin + 1), Math.max(right, x0 + 1));
    raster.rect(x0, top, x1, bottom, color);
    // A line separates neighbours of the same colour.
    if (x0 === begin && x1 - x0 > 3) raster.rect(x0, top, x0 + 1, bottom, mix(color, app.back, 0.45));
    // The deepest states share a sublane, where their names would overlap.
    if (block.others[i] < line.lane.depth && Math.max(start, app.viewport.from) >= from) {
      const visible = Math.min(place.x(end), place.width) - Math.max(place.x(start), 0);
      if (visible > 22 * place.ratio && labels.length < 4000) {
        labels.push({ text: valueOf(app, line.lane.type, block.values[i]).name, x: Math.max(place.x(start), 0), width: visible, y: (top + bottom) / 2, light: isLight(color) });
      }
    }
  }
}

function eventRows(app, line, { block, from, to }, place) {
  const colors = paints(app, line.lane.type);
  const [top, bottom] = [Math.round(place.top + 2 * place.ratio), Math.round(place.top + (line.height - 2) * place.ratio)];
  const thick = Math.max(1, Math.round(place.ratio * 1.5));
  for (let i = 0; i < block.n; i++) {
    if (block.start[i] < from || block.start[i] > to) continue;
    const x = Math.round(place.x(block.start[i]));
    app.raster.rect(x, top, x + thick, bottom, colors[block.values[i]] ?? paint(app, line.lane.type, block.values[i]));
  }
}

// Draws the contents of bins in layers: shares of states, counts of events.
function shares(app, line, { block, from, to }, place) {
  const { raster, model } = app;
  const colors = line.lane && paints(app, line.lane.type);
  const isEvent = line.lane?.nature === "event";
  const depth = line.lane?.depth || 1;
  const width = model.tick * 2 ** block.level;
  const origin = model.origin + block.first * width;
  const begin = Math.max(0, Math.floor((from - origin) / width));
  const end = Math.min(block.n, Math.ceil((to - origin) / width));
  const [low, high] = [Math.round(place.x(from)), Math.round(place.x(to))];
  const bases = new Float64Array(depth);
  for (let i = begin; i < end; i++) {
    const x0 = Math.max(Math.round(place.x(origin + i * width)), low);
    const x1 = Math.min(Math.round(place.x(origin + (i + 1) * width)), high);
    if (x1 <= x0) continue;
    bases.fill(0);
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      const value = block.values[j];
      const imbrication = Math.min(isEvent ? 0 : block.others[j], depth - 1);
      const share = Math.min(isEvent ? block.amounts[j] / Math.max(block.starts[i], 1) : block.amounts[j], 1 - bases[imbrication]);
      if (share <= 0) continue;
      const [above, height] = sublane(line, imbrication);
      const base = place.top + (above + height) * place.ratio - 1;
      const scale = height * place.ratio - 1;
      const bottom = Math.round(base - scale * bases[imbrication]);
      bases[imbrication] += share;
      // Rare values are at least a pixel high.
      const top = Math.min(Math.round(base - scale * bases[imbrication]), bottom - 1);
      raster.rect(x0, top, x1, bottom, colors?.[value] ?? paint(app, line.lane ? line.lane.type : block.others[j], value));
    }
  }
}

function heightOf(line, place) {
  const { min, max } = line.lane;
  const [low, high] = [Math.min(min, 0), Math.max(max, 0)];
  const room = (line.height - 8) * place.ratio;
  const span = high > low ? high - low : 1;
  return (value) => Math.round(place.top + 4 * place.ratio + (room * (high - value)) / span);
}

function variableColors(app, line) {
  const color = app.model.types[line.lane.type].number;
  // An edge makes pale colours visible.
  const edge = mix(color, isLight(app.back) ? 0xff000000 : 0xffffffff, 0.22);
  return [edge, mix(color, app.back, 0.5)];
}

function variableRows(app, line, { block, from, to }, place) {
  const y = heightOf(line, place);
  const [edge, fill] = variableColors(app, line);
  const zero = y(0);
  for (let i = 0; i < block.n; i++) {
    if (block.end[i] < from || block.start[i] > to) continue;
    const x0 = Math.round(place.x(Math.max(block.start[i], from)));
    const x1 = Math.max(Math.round(place.x(Math.min(block.end[i], to))), x0 + 1);
    const at = y(block.height[i]);
    app.raster.rect(x0, Math.min(at, zero), x1, Math.max(at, zero), fill);
    app.raster.rect(x0, at, x1, at + Math.max(1, Math.round(place.ratio)), edge);
  }
}

function variableBins(app, line, { block, from, to }, place) {
  const y = heightOf(line, place);
  const [edge, fill] = variableColors(app, line);
  const width = app.model.tick * 2 ** block.level;
  const origin = app.model.origin + block.first * width;
  const zero = y(0);
  const [low, high] = [Math.round(place.x(from)), Math.round(place.x(to))];
  const end = Math.min(block.n, Math.ceil((to - origin) / width));
  for (let i = Math.max(0, Math.floor((from - origin) / width)); i < end; i++) {
    if (block.min[i] > block.max[i]) continue;
    const x0 = Math.max(Math.round(place.x(origin + i * width)), low);
    const x1 = Math.min(Math.round(place.x(origin + (i + 1) * width)), high);
    if (x1 <= x0) continue;
    const [top, mean, bottom] = [y(block.max[i]), y(block.mean[i]), y(block.min[i])];
    app.raster.rect(x0, Math.min(mean, zero), x1, Math.max(mean, zero), fill);
    app.raster.rect(x0, top, x1, Math.max(bottom, top + Math.max(1, Math.round(place.ratio))), edge);
  }
}
