// Overlay of wait states: a strip at the lower edge of each lane, coloured by the cause. A click on a wait goes to the
// state that ends it; the panel of that state leads back.
import { foldedName } from "./folded.js";
import { Tiles } from "./tiles.js";
import { waitOf } from "./rows.js";
import { AXIS } from "./viewport.js";
/** @import { Block, Frame, Line, Overview, Page, Wait } from "./types" */
/** @import { Analyses } from "./analyses.js" */
/** @import { Overlay } from "./overlays.js" */

/** Height of the strip, as a part of its line, and in pixels at least. */
const PART = 0.34;
const LEAST = 4;

/**
 * Goes to the row that ends a wait, or to the time in its lane.
 * @param {Page} page
 * @param {Wait} wait
 */
export function goToCause({ navigator }, { whom, release, released }) {
  const at = { lane: whom, row: release ?? 0, start: released, end: released };
  if (release === null) navigator.reveal(at);
  else navigator.jump(at);
}

/**
 * Goes to the row that waits.
 * @param {Page} page
 * @param {Wait} wait
 */
export function goToWait({ navigator }, { lane, row, start, end }) {
  navigator.jump({ lane, row, start, end });
}

/**
 * Returns the name of a lane's container.
 * @param {Page} page
 * @param {number} lane
 */
export function containerName({ data }, lane) {
  const container = data.model.lanes.get(lane)?.container;
  return (container !== undefined && data.model.containers.get(container)?.name) || "a container that is not shown";
}

/**
 * @param {Page} page
 * @param {Analyses} analyses
 * @returns {Overlay}
 */
export function waitsOverlay(page, analyses) {
  const { data, viewport, state } = page;
  /**
   * Returns the name of a line's tiles, or null if it has no waits. HTML files have none of folded containers.
   * @param {Line} line
   */
  const nameOf = ({ lane, summary, container }) => {
    if (lane?.nature === "state") return lane.id;
    return summary && !data.source.embedded ? foldedName(container, state.hiddenTypes) : null;
  };
  /** @type {Overview | null} */
  let overview = null;
  /** @type {Tiles | null} */
  let tiles = null;
  return {
    id: "waits",
    title: "Waits",
    async load() {
      overview = await analyses.overview();
      if (overview.waits.refused) throw new Error(overview.waits.refused);
      const source = { ...data.source, embedded: await analyses.blocks(), tiles: analyses.waits, folded: analyses.foldedWaits };
      tiles = new Tiles(source, data.model, () => page.scene.redraw(), () => page.live.say("pj_view does not answer; it may have ended."));
    },
    idle: () => !tiles || tiles.idle(),
    draw(frame) {
      if (!overview || !tiles) return;
      tiles.begin();
      /** @type {Path2D[]} */
      const paths = overview.colours.map(() => new Path2D());
      for (const line of frame.lines) {
        const name = nameOf(line);
        if (name === null) continue;
        const [top, bottom] = strip(line, frame);
        for (const { block, from, to } of tiles.segments(name, frame.level, viewport.from, viewport.to)) {
          const x = [Math.max(frame.x(from), 0), Math.min(frame.x(to), frame.width)];
          if (block.isRows) rows(paths, block, frame, x, top, bottom);
          else bins(paths, block, frame, page, x, top, bottom);
        }
      }
      const { context } = frame;
      // An edge separates waits from the states behind them.
      context.lineWidth = frame.ratio;
      context.strokeStyle = frame.style.back;
      paths.forEach((path, kind) => {
        context.stroke(path);
        context.fillStyle = overview?.colours[kind] || "";
        context.fill(path);
      });
      tiles.send();
    },
    hit(x, y, frame) {
      if (!overview || !tiles) return null;
      const at = y - AXIS + viewport.scroll;
      const line = frame.lines.find((it) => at >= it.top && at < it.top + it.height);
      const name = line ? nameOf(line) : null;
      if (!line || name === null || y * frame.ratio < strip(line, frame)[0]) return null;
      const time = viewport.time(x);
      const slack = viewport.secondsPerPixel * 1.5;
      for (const { block } of tiles.segments(name, frame.level, time, time)) {
        let topmost = -1;
        for (let i = 0; line.lane && block.isRows && i < block.n; i++) {
          if (block.start[i] - slack > time || block.end[i] + slack < time) continue;
          // Waits of nested calls overlap. Kinds are drawn in their order.
          if (topmost < 0 || block.values[i] >= block.values[topmost]) topmost = i;
        }
        if (line.lane && topmost >= 0) {
          const wait = waitOf(block, line.lane.id, topmost);
          const length = data.model.units.format(wait.end - wait.start);
          return { text: [`${overview.kinds[wait.kind]}, ${length}`, `waits for ${containerName(page, wait.whom)}; a click goes there`], act: () => goToCause(page, wait) };
        }
        const text = block.isRows ? [] : sharesAt(block, page, overview.kinds, time);
        if (text.length > 0) return { text };
      }
      return null;
    },
  };
}

/**
 * Returns the top and the bottom of a line's strip, in device pixels.
 * @param {Line} line
 * @param {Frame} frame
 */
function strip(line, frame) {
  const bottom = Math.round(frame.y(line.top + line.height - 2));
  return [bottom - Math.round(Math.max(line.height * PART, LEAST) * frame.ratio), bottom];
}

/**
 * @param {Path2D[]} paths
 * @param {Block} block
 * @param {Frame} frame
 * @param {number[]} within
 * @param {number} top
 * @param {number} bottom
 */
function rows(paths, block, frame, [low, high], top, bottom) {
  for (let i = 0; i < block.n; i++) {
    const [x0, x1] = [Math.max(frame.x(block.start[i]), low), Math.min(frame.x(block.end[i]), high)];
    if (x0 <= x1 && x1 >= low) paths[block.values[i]]?.rect(x0, top, Math.max(x1 - x0, 1), bottom - top);
  }
}

/**
 * @param {Path2D[]} paths
 * @param {Block} block
 * @param {Frame} frame
 * @param {Page} page
 * @param {number[]} within
 * @param {number} top
 * @param {number} bottom
 */
function bins(paths, block, frame, { data }, [low, high], top, bottom) {
  const { origin, tick } = data.model;
  const width = tick * 2 ** block.level;
  for (let i = 0; i < block.n; i++) {
    const start = origin + (block.first + i) * width;
    const [x0, x1] = [Math.max(frame.x(start), low), Math.min(frame.x(start + width), high)];
    if (x1 <= x0) continue;
    let base = bottom;
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
      const height = Math.min(block.amounts[j], 1) * (bottom - top);
      if (height <= 0) continue;
      base = Math.max(base - height, top);
      paths[block.values[j]]?.rect(x0, base, x1 - x0, height);
    }
  }
}

/**
 * Returns the shares of the kinds of waits at a time.
 * @param {Block} block
 * @param {Page} page
 * @param {string[]} kinds
 * @param {number} time
 */
function sharesAt(block, { data }, kinds, time) {
  const { origin, tick } = data.model;
  const i = Math.floor((time - origin) / (tick * 2 ** block.level)) - block.first;
  if (i < 0 || i >= block.n) return [];
  const text = [];
  for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
    if (block.amounts[j] > 0) text.push(`${(block.amounts[j] * 100).toFixed(0)} %  ${kinds[block.values[j]]}`);
  }
  return text;
}
