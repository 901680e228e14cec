// Draws lanes: row by row if there are few rows, otherwise the contents of each pixel.
import { valueOf } from "./model.js";
import { foldedName } from "./folded.js";
import { sublane } from "./layout.js";
import { isLight, mix } from "./raster.js";
/** @import { Block, Data, Frame, Label, Lane, Line, Segment } from "./types" */
/** @import { Paints } from "./paints.js" */
/** @import { Raster } from "./raster.js" */

/** Tools and data for drawing lanes. @typedef {{ raster: Raster, data: Data, paints: Paints, frame: Frame, labels: Label[] }} Pen */
/** Line with a lane. @typedef {Line & { lane: Lane }} LaneLine */

const MOST_LABELS = 4000;

/**
 * Returns the top of a line in the raster.
 * @param {Pen} pen
 * @param {Line} line
 */
const topOf = ({ frame }, line) => frame.viewport.y(line.top) * frame.ratio;

/**
 * Draws a line's lane, and appends its labels.
 * @param {Pen} pen
 * @param {LaneLine} line
 */
export function drawLane(pen, line) {
  const { nature, id } = line.lane;
  const { viewport, level } = pen.frame;
  for (const segment of pen.data.tiles.segments(id, level, viewport.from, viewport.to)) {
    const { block } = segment;
    if (nature === "variable") (block.isRows ? variableRows : variableBins)(pen, line, segment);
    else if (block.isRows) (nature === "state" ? stateRows : eventRows)(pen, line, segment);
    else shares(pen, line, segment);
  }
}

/**
 * Draws the contents of a folded container.
 * @param {Pen} pen
 * @param {Line} line
 * @param {Set<number>} hiddenTypes
 */
export function drawFolded(pen, line, hiddenTypes) {
  const { viewport, level } = pen.frame;
  const name = foldedName(line.container, hiddenTypes);
  for (const segment of pen.data.tiles.segments(name, level, viewport.from, viewport.to)) shares(pen, line, segment);
}

/**
 * @param {Pen} pen
 * @param {LaneLine} line
 * @param {Segment} segment
 */
function stateRows(pen, line, { block, from, to }) {
  const { raster, paints, frame, labels } = pen;
  const { type, depth } = line.lane;
  const { viewport, ratio } = frame;
  const colorOf = paints.rows(type, block);
  const lineTop = topOf(pen, line);
  const [left, right] = [Math.round(frame.x(from)), Math.round(frame.x(to))];
  for (let i = 0; i < block.n; i++) {
    const [start, end] = [block.start[i], block.end[i]];
    if (end < from || start > to) continue;
    const color = colorOf(i);
    const [above, height] = sublane(line, block.others[i]);
    const top = Math.round(lineTop + above * ratio);
    const bottom = Math.round(lineTop + (above + height) * ratio) - 1;
    const begin = Math.round(frame.x(start));
    const x0 = Math.max(begin, left);
    const x1 = Math.min(Math.max(Math.round(frame.x(end)), begin + 1), Math.max(right, x0 + 1));
    raster.rect(x0, top, x1, bottom, color);
    // A line separates neighbours of the same colour.
    if (x0 === begin && x1 - x0 > 3) raster.rect(x0, top, x0 + 1, bottom, mix(color, frame.back, 0.45));
    // The deepest states share a sublane, where their names would overlap.
    if (block.others[i] < depth && Math.max(start, viewport.from) >= from) {
      const visible = Math.min(frame.x(end), frame.width) - Math.max(frame.x(start), 0);
      if (visible > 22 * ratio && labels.length < MOST_LABELS) {
        labels.push({ text: valueOf(pen.data, type, block.values[i]).name, x: Math.max(frame.x(start), 0), width: visible, y: (top + bottom) / 2, light: isLight(color) });
      }
    }
  }
}

/**
 * @param {Pen} pen
 * @param {LaneLine} line
 * @param {Segment} segment
 */
function eventRows(pen, line, { block, from, to }) {
  const { raster, paints, frame } = pen;
  const colorOf = paints.rows(line.lane.type, block);
  const lineTop = topOf(pen, line);
  const [top, bottom] = [Math.round(lineTop + 2 * frame.ratio), Math.round(lineTop + (line.height - 2) * frame.ratio)];
  const thick = Math.max(1, Math.round(frame.ratio * 1.5));
  for (let i = 0; i < block.n; i++) {
    if (block.start[i] < from || block.start[i] > to) continue;
    const x = Math.round(frame.x(block.start[i]));
    raster.rect(x, top, x + thick, bottom, colorOf(i));
  }
}

/**
 * Draws the contents of bins in layers: shares of states, counts of events.
 * @param {Pen} pen
 * @param {Line} line
 * @param {Segment} segment
 */
function shares(pen, line, { block, from, to }) {
  const { raster, paints, frame } = pen;
  const { model } = pen.data;
  const { lane } = line;
  const colors = lane && paints.of(lane.type);
  const { isByValue } = paints;
  const isEvent = lane?.nature === "event";
  const depth = lane?.depth || 1;
  const width = model.tick * 2 ** block.level;
  const origin = model.origin + block.first * width;
  const begin = Math.max(0, Math.floor((from - origin) / width));
  const end = Math.min(block.n, Math.ceil((to - origin) / width));
  const [low, high] = [Math.round(frame.x(from)), Math.round(frame.x(to))];
  const lineTop = topOf(pen, line);
  const bases = new Float64Array(depth);
  for (let i = begin; i < end; i++) {
    const x0 = Math.max(Math.round(frame.x(origin + i * width)), low);
    const x1 = Math.min(Math.round(frame.x(origin + (i + 1) * width)), high);
    if (x1 <= x0) continue;
    bases.fill(0);
    const mean = isByValue || isEvent ? 0 : meanOf(block, i) * width;
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      const value = block.values[j];
      const imbrication = Math.min(isEvent ? 0 : block.others[j], depth - 1);
      const share = Math.min(isEvent ? block.amounts[j] / Math.max(block.starts[i], 1) : block.amounts[j], 1 - bases[imbrication]);
      if (share <= 0) continue;
      const [above, height] = sublane(line, imbrication);
      const base = lineTop + (above + height) * frame.ratio - 1;
      const scale = height * frame.ratio - 1;
      const bottom = Math.round(base - scale * bases[imbrication]);
      bases[imbrication] += share;
      // Rare values are at least a pixel high.
      const top = Math.min(Math.round(base - scale * bases[imbrication]), bottom - 1);
      raster.rect(x0, top, x1, bottom, isByValue ? (colors?.[value] ?? paints.one(lane ? lane.type : block.others[j], value)) : paints.bin(mean));
    }
  }
}

/**
 * Returns the mean duration of the states of a bin in widths of the bin, or its width if they are longer.
 * @param {Block} block
 * @param {number} i
 */
function meanOf(block, i) {
  let sum = 0;
  for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) sum += block.amounts[j];
  return Math.min(sum / Math.max(block.starts[i], 1), 1);
}

/**
 * Returns a function from a variable's values to positions in the raster.
 * @param {Pen} pen
 * @param {LaneLine} line
 */
function heightOf(pen, line) {
  const { min, max } = line.lane;
  const { ratio } = pen.frame;
  const [low, high] = [Math.min(min, 0), Math.max(max, 0)];
  const room = (line.height - 8) * ratio;
  const span = high > low ? high - low : 1;
  const top = topOf(pen, line);
  /** @param {number} value */
  return (value) => Math.round(top + 4 * ratio + (room * (high - value)) / span);
}

/**
 * @param {Pen} pen
 * @param {LaneLine} line
 */
function variableColors({ data, frame }, line) {
  const color = data.model.types[line.lane.type].number;
  // An edge makes pale colours visible.
  const edge = mix(color, isLight(frame.back) ? 0xff000000 : 0xffffffff, 0.22);
  return [edge, mix(color, frame.back, 0.5)];
}

/**
 * @param {Pen} pen
 * @param {LaneLine} line
 * @param {Segment} segment
 */
function variableRows(pen, line, { block, from, to }) {
  const { raster, frame } = pen;
  const y = heightOf(pen, line);
  const [edge, fill] = variableColors(pen, line);
  const zero = y(0);
  for (let i = 0; i < block.n; i++) {
    if (block.end[i] < from || block.start[i] > to) continue;
    const x0 = Math.round(frame.x(Math.max(block.start[i], from)));
    const x1 = Math.max(Math.round(frame.x(Math.min(block.end[i], to))), x0 + 1);
    const at = y(block.height[i]);
    raster.rect(x0, Math.min(at, zero), x1, Math.max(at, zero), fill);
    raster.rect(x0, at, x1, at + Math.max(1, Math.round(frame.ratio)), edge);
  }
}

/**
 * @param {Pen} pen
 * @param {LaneLine} line
 * @param {Segment} segment
 */
function variableBins(pen, line, { block, from, to }) {
  const { raster, frame } = pen;
  const { model } = pen.data;
  const y = heightOf(pen, line);
  const [edge, fill] = variableColors(pen, line);
  const width = model.tick * 2 ** block.level;
  const origin = model.origin + block.first * width;
  const zero = y(0);
  const [low, high] = [Math.round(frame.x(from)), Math.round(frame.x(to))];
  const end = Math.min(block.n, Math.ceil((to - origin) / width));
  for (let i = Math.max(0, Math.floor((from - origin) / width)); i < end; i++) {
    if (block.min[i] > block.max[i]) continue;
    const x0 = Math.max(Math.round(frame.x(origin + i * width)), low);
    const x1 = Math.min(Math.round(frame.x(origin + (i + 1) * width)), high);
    if (x1 <= x0) continue;
    const [top, mean, bottom] = [y(block.max[i]), y(block.mean[i]), y(block.min[i])];
    raster.rect(x0, Math.min(mean, zero), x1, Math.max(mean, zero), fill);
    raster.rect(x0, top, x1, Math.max(bottom, top + Math.max(1, Math.round(frame.ratio))), edge);
  }
}
