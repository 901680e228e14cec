// Finds objects at a position of the stage, in CSS pixels.
import { foldedName } from "./folded.js";
import { sublane, visibleLines } from "./layout.js";
import { AXIS } from "./viewport.js";
/** @import { Block, Line, Page, Row } from "./types" */
/** @import { LaneLine } from "./lanes.js" */

/**
 * The contents of the picture at a position: a row, the shares of values, or the range of a variable.
 * @typedef {object} Seen
 * @property {Line} line
 * @property {number} time
 * @property {Row} [row]
 * @property {[value: number, amount: number, type: number][]} [parts]
 * @property {number} [starts]
 * @property {[number, number, number]} [range]
 */

/** @typedef {Pick<Page, "data" | "state" | "viewport" | "scene">} Parts */

/**
 * @param {Pick<Page, "viewport" | "scene">} page
 * @param {number} y
 */
export function lineAt({ viewport, scene }, y) {
  const at = viewport.heightAt(y - AXIS);
  return y < AXIS ? null : visibleLines(scene.layout, at, at).find((line) => at >= line.top && at < line.top + line.height) || null;
}

/**
 * @param {Parts} page
 * @param {LaneLine} line
 * @param {number} y
 */
function imbricationAt({ viewport }, line, y) {
  if (line.lane.nature !== "state") return 0;
  const at = viewport.heightAt(y - AXIS) - line.top;
  const [, height] = sublane(line, 0);
  return Math.max(0, Math.min(line.lane.depth - 1, Math.floor((at - 2) / height)));
}

/**
 * Returns the row of a block at a time, or the nearest row within `slack`.
 * @param {Block} block
 * @param {LaneLine} line
 * @param {number} imbrication
 * @param {number} time
 * @param {number} slack
 * @returns {Row | null}
 */
function rowIn(block, line, imbrication, time, slack) {
  let [best, distance] = [-1, Infinity];
  const { nature, depth, id } = line.lane;
  for (let i = 0; i < block.n; i++) {
    if (nature === "state" && Math.min(block.others[i], depth - 1) !== imbrication) continue;
    const away = Math.max(block.start[i] - time, time - block.end[i], 0);
    // Among equally near rows, the longest one wins.
    if (away <= slack && (away < distance || (away === distance && block.end[i] - block.start[i] > block.end[best] - block.start[best]))) [best, distance] = [i, away];
  }
  return best < 0 ? null : rowOf(block, id, best);
}

/**
 * Returns a row of a block.
 * @param {Block} block
 * @param {number} lane
 * @param {number} i
 * @returns {Row}
 */
export function rowOf(block, lane, i) {
  return { lane, row: block.number[i], start: block.start[i], end: block.end[i], value: block.values[i], imbrication: block.others[i], height: block.height[i] };
}

/**
 * Returns the objects at a position that have already been drawn, for a tooltip.
 * @param {Parts} page
 * @param {number} x
 * @param {number} y
 * @returns {Seen | null}
 */
export function seenAt(page, x, y) {
  const { data, state, viewport } = page;
  const line = lineAt(page, y);
  if (!line || x < viewport.gutter) return null;
  const time = viewport.time(x - viewport.gutter);
  const slack = viewport.secondsPerPixel * 2;
  const level = data.tiles.levelFor(viewport.secondsPerPixel / (window.devicePixelRatio || 1));
  if (line.summary) return sharesAt(page, line, foldedName(line.container, state.hiddenTypes), level, time, null);
  if (!line.lane) return null;
  const lane = /** @type {LaneLine} */ (line);
  const imbrication = imbricationAt(page, lane, y);
  for (const { block } of data.tiles.segments(line.lane.id, level, time - slack, time + slack)) {
    if (block.isRows) {
      const row = rowIn(block, lane, imbrication, time, slack);
      if (row) return { line, time, row };
    } else if (line.lane.nature === "variable") {
      const i = binAt(data, block, time);
      if (i !== null) return { line, time, range: [block.min[i], block.mean[i], block.max[i]] };
    } else {
      const seen = sharesAt(page, line, line.lane.id, level, time, imbrication);
      if (seen) return seen;
    }
  }
  return { line, time };
}

/**
 * Returns the bin of a block at a time.
 * @param {Page["data"]} data
 * @param {Block} block
 * @param {number} time
 */
function binAt({ model }, block, time) {
  const i = Math.floor((time - model.origin) / (model.tick * 2 ** block.level)) - block.first;
  return i >= 0 && i < block.n ? i : null;
}

/**
 * Returns the values of a lane or of a folded container at a time, those with most first.
 * @param {Parts} page
 * @param {Line} line
 * @param {number | string} name
 * @param {number} level
 * @param {number} time
 * @param {number | null} imbrication
 * @returns {Seen | null}
 */
function sharesAt({ data }, line, name, level, time, imbrication) {
  const { lane } = line;
  for (const { block } of data.tiles.segments(name, level, time, time)) {
    const i = block.isRows ? null : binAt(data, block, time);
    if (i === null) continue;
    /** @type {[number, number, number][]} */
    const parts = [];
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      if (!lane) parts.push([block.values[j], block.amounts[j], block.others[j]]);
      else if (lane.nature === "event" || block.others[j] === imbrication) parts.push([block.values[j], block.amounts[j], lane.type]);
    }
    parts.sort((a, b) => b[1] - a[1]);
    return { line, time, parts, starts: block.starts[i] };
  }
  return null;
}

/**
 * Returns the row at a position. Fetches the row if it is not drawn on its own.
 * @param {Parts} page
 * @param {number} x
 * @param {number} y
 * @returns {Promise<Row | null>}
 */
export async function rowAt(page, x, y) {
  const seen = seenAt(page, x, y);
  if (!seen?.line.lane || seen.row) return seen?.row || null;
  const line = /** @type {LaneLine} */ (seen.line);
  const slack = page.viewport.secondsPerPixel;
  const block = await page.data.tiles.rowsAt(line.lane.id, seen.time, slack);
  return block && rowIn(block, line, imbricationAt(page, line, y), seen.time, slack * 2);
}
