// Overlay of the critical path: a line through the lanes that the run's length depends on.
import { PATH_LANE } from "./analyses.js";
import { OTHERS } from "./model.js";
import { Tiles } from "./tiles.js";
import { AXIS } from "./viewport.js";
import { containerName } from "./waits.js";
/** @import { Block, Frame, Page } from "./types" */
/** @import { Analyses } from "./analyses.js" */
/** @import { Overlay } from "./overlays.js" */

/** Pixels per part from which the parts are joined to a line. If they are narrower, the line would hide everything. */
const JOINED = 8;

/** Number of opacities that show which share of a bin the path is in a lane. */
const SHADES = 8;

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
      /** @type {Part[]} */
      const parts = [];
      const shades = Array.from({ length: SHADES + 1 }, () => new Path2D());
      for (const { block, from, to } of found) {
        if (block.isRows) parts.push(...partsOf(block));
        else bins(shades, block, page, frame, from, to);
      }
      const { context, ratio } = frame;
      const all = ordered(parts.filter(({ start, end }) => end >= viewport.from && start <= viewport.to));
      context.strokeStyle = colour;
      if (all.length * JOINED <= viewport.width) {
        const line = joined(all, page, frame);
        context.lineJoin = "round";
        context.lineWidth = 5 * ratio;
        context.strokeStyle = frame.style.back;
        context.stroke(line);
        context.strokeStyle = colour;
        context.lineWidth = 2.5 * ratio;
        context.stroke(line);
      } else {
        for (const { lane, start, end } of all) across(shades[SHADES], heightOf(page, frame, lane), frame, start, end);
      }
      context.lineWidth = 3 * ratio;
      shades.forEach((path, shade) => {
        context.globalAlpha = shade / SHADES;
        context.stroke(path);
      });
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
 * @param {Part[]} parts
 * @param {Page} page
 * @param {Frame} frame
 */
function joined(parts, page, frame) {
  const line = new Path2D();
  /** @type {number | null} */
  let last = null;
  for (const { number, lane, start, end } of parts) {
    const height = heightOf(page, frame, lane);
    if (height === null) continue;
    const [x0, x1, y] = [bounded(frame.x(start), frame), bounded(frame.x(end), frame), frame.y(height)];
    if (last === number - 1) line.lineTo(x0, y);
    else line.moveTo(x0, y);
    line.lineTo(x1, y);
    last = number;
  }
  return line;
}

/**
 * Appends a line in a lane.
 * @param {Path2D} path
 * @param {number | null} height
 * @param {Frame} frame
 * @param {number} start
 * @param {number} end
 */
function across(path, height, frame, start, end) {
  if (height === null) return;
  path.moveTo(bounded(frame.x(start), frame), frame.y(height));
  path.lineTo(bounded(frame.x(end), frame), frame.y(height));
}

/**
 * Keeps positions near the plot, as browsers draw very long lines inexactly.
 * @param {number} x
 * @param {Frame} frame
 */
const bounded = (x, { width }) => Math.max(-width, Math.min(2 * width, x));

/**
 * Draws in which lanes the path is in each bin: the larger its share, the darker.
 * @param {Path2D[]} shades
 * @param {Block} block
 * @param {Page} page
 * @param {Frame} frame
 * @param {number} from
 * @param {number} to
 */
function bins(shades, block, page, frame, from, to) {
  const { origin, tick } = page.data.model;
  const width = tick * 2 ** block.level;
  const begin = Math.max(0, Math.floor((from - origin) / width) - block.first);
  const end = Math.min(block.n, Math.ceil((to - origin) / width) - block.first);
  for (let i = begin; i < end; i++) {
    const start = origin + (block.first + i) * width;
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      if (block.values[j] === OTHERS || block.amounts[j] <= 0) continue;
      across(shades[shadeOf(block.amounts[j])], heightOf(page, frame, block.values[j]), frame, start, start + width);
    }
  }
}

/** @param {number} share */
export const shadeOf = (share) => Math.ceil(Math.sqrt(Math.min(share, 1)) * SHADES);
