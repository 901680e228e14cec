// Overlay of the critical path: a line through the lanes that the run's length depends on.
import { PATH_LANE } from "./analyses.js";
import { OTHERS } from "./model.js";
import { Tiles } from "./tiles.js";
import { AXIS } from "./viewport.js";
import { containerName } from "./waits.js";
/** @import { Block, Frame, Page } from "./types" */
/** @import { Analyses } from "./analyses.js" */
/** @import { Overlay } from "./overlays.js" */

/** Distance in pixels at which the line is hit. */
const NEAR = 5;

/** A part of the path. @typedef {{ number: number, lane: number, start: number, end: number }} Part */

/**
 * @param {Page} page
 * @param {Analyses} analyses
 * @returns {Overlay}
 */
export function pathOverlay(page, analyses) {
  const { data, viewport } = page;
  let colour = "";
  /** @type {Tiles | null} */
  let tiles = null;
  /** @param {Frame} frame */
  const segments = (frame) => (tiles ? tiles.segments(PATH_LANE, frame.level, viewport.from, viewport.to) : []);
  return {
    id: "path",
    title: "Critical path",
    async load() {
      const overview = await analyses.overview();
      if (overview.path.refused) throw new Error(overview.path.refused);
      colour = overview.pathColour;
      const source = { ...data.source, embedded: await analyses.blocks(), tiles: analyses.path };
      tiles = new Tiles(source, data.model, () => page.scene.redraw(), () => page.live.say("pj_view does not answer; it may have ended."));
    },
    idle: () => !tiles || tiles.idle(),
    draw(frame) {
      if (!tiles) return;
      tiles.begin();
      const found = segments(frame);
      const lines = new Path2D();
      /** @type {Part[]} */
      const parts = [];
      for (const { block } of found) {
        if (block.isRows) parts.push(...partsOf(block));
      }
      joined(lines, ordered(parts), page, frame);
      for (const { block, from, to } of found) {
        if (!block.isRows) bins(lines, block, page, frame, from, to);
      }
      const { context, ratio } = frame;
      context.lineJoin = "round";
      for (const [style, width] of /** @type {[string, number][]} */ ([[frame.style.back, 5], [colour, 2.5]])) {
        context.strokeStyle = style;
        context.lineWidth = width * ratio;
        context.stroke(lines);
      }
      tiles.send();
    },
    hit(x, y, frame) {
      const time = viewport.time(x);
      for (const { block } of segments(frame)) {
        for (const { lane, start, end } of block.isRows ? partsOf(block) : []) {
          const middle = heightOf(page, frame, lane);
          if (time < start || time > end || middle === null) continue;
          const away = Math.abs(middle - viewport.scroll + AXIS - y);
          if (away <= NEAR) return { text: ["critical path", `${data.model.units.format(end - start)} in ${containerName(page, lane)}`] };
        }
      }
      return null;
    },
  };
}

/** @param {Block} block */
function partsOf(block) {
  return Array.from({ length: block.n }, (_, i) => ({ number: block.number[i], lane: block.values[i], start: block.start[i], end: block.end[i] }));
}

/**
 * Returns parts in their order, each once: tiles also have the parts before and after them.
 * @param {Part[]} parts
 */
export function ordered(parts) {
  return [...new Map(parts.map((part) => [part.number, part])).values()].sort((a, b) => a.number - b.number);
}

/**
 * Returns the height at which the path passes a lane, or null if its container is not shown.
 * @param {Page} page
 * @param {Frame} frame
 * @param {number} lane
 */
function heightOf({ data }, { layout }, lane) {
  const line = layout.byLane.get(lane);
  if (line) return line.top + line.height / 2;
  const container = data.model.lanes.get(lane)?.container;
  return (container !== undefined && layout.places.get(container)) || null;
}

/**
 * Joins the parts to a line. Parts that are missing interrupt it.
 * @param {Path2D} lines
 * @param {Part[]} parts
 * @param {Page} page
 * @param {Frame} frame
 */
function joined(lines, parts, page, frame) {
  /** @type {number | null} */
  let last = null;
  for (const { number, lane, start, end } of parts) {
    const height = heightOf(page, frame, lane);
    if (height === null) continue;
    const [x0, x1, y] = [bounded(frame.x(start), frame), bounded(frame.x(end), frame), frame.y(height)];
    if (last === number - 1) lines.lineTo(x0, y);
    else lines.moveTo(x0, y);
    lines.lineTo(x1, y);
    last = number;
  }
}

/**
 * Keeps positions near the plot, as browsers draw very long lines inexactly.
 * @param {number} x
 * @param {Frame} frame
 */
const bounded = (x, { width }) => Math.max(-width, Math.min(2 * width, x));

/**
 * Draws in which lanes the path is in each bin, and joins them.
 * @param {Path2D} lines
 * @param {Block} block
 * @param {Page} page
 * @param {Frame} frame
 * @param {number} from
 * @param {number} to
 */
function bins(lines, block, page, frame, from, to) {
  const { origin, tick } = page.data.model;
  const width = tick * 2 ** block.level;
  const begin = Math.max(0, Math.floor((from - origin) / width) - block.first);
  const end = Math.min(block.n, Math.ceil((to - origin) / width) - block.first);
  for (let i = begin; i < end; i++) {
    const start = origin + (block.first + i) * width;
    const [x0, x1] = [frame.x(start), frame.x(start + width)];
    let [top, bottom] = [Infinity, -Infinity];
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      const height = block.values[j] === OTHERS || block.amounts[j] <= 0 ? null : heightOf(page, frame, block.values[j]);
      if (height === null) continue;
      const y = frame.y(height);
      lines.moveTo(x0, y);
      lines.lineTo(x1, y);
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
    if (top < bottom) {
      lines.moveTo((x0 + x1) / 2, top);
      lines.lineTo((x0 + x1) / 2, bottom);
    }
  }
}
