// Draws links as lines between containers: one by one if there are few, otherwise bin by bin.
import { valueOf } from "./model.js";
/** @import { Data, Frame, Lane, Segment } from "./types" */
/** @import { State } from "./state.js" */

const MOST = 6000;

/** Number of levels by which bins of links are coarser than those of lanes. */
const COARSER = 5;

/**
 * @param {Data} data
 * @param {State} state
 * @param {Frame} frame
 */
export function drawLinks(data, state, frame) {
  const { viewport } = frame;
  const strokes = new Strokes(frame);
  for (const lane of data.model.lanes.values()) {
    if (lane.nature !== "link" || state.hiddenTypes.has(lane.type)) continue;
    let segments = data.tiles.segments(lane.id, frame.level, viewport.from, viewport.to);
    if (!segments.every(({ block }) => block.isRows)) {
      segments = data.tiles.segments(lane.id, Math.min(frame.level + COARSER, 63), viewport.from, viewport.to);
    }
    for (const segment of segments) {
      if (segment.block.isRows) linkRows(data, state, strokes, lane, segment);
      else linkBins(data, strokes, segment);
    }
  }
  strokes.draw();
}

/** Lines of the same style share a path. Thousands of paths would take longer than a frame. */
class Strokes {
  /** @param {Frame} frame */
  constructor(frame) {
    this.frame = frame;
    /** @type {Map<string, { color: string, alpha: number, thick: number, lines: Path2D, heads: Path2D }>} */
    this.looks = new Map();
    this.count = 0;
  }

  /**
   * Adds a line between two times and heights of the layout.
   * @param {{ color: string, alpha: number, thick: number, heads: boolean }} style
   * @param {number} start
   * @param {number} y0
   * @param {number} end
   * @param {number} y1
   */
  add({ color, alpha, thick, heads }, start, y0, end, y1) {
    const { frame } = this;
    const [top, bottom] = [frame.y(y0), frame.y(y1)];
    if ((top < frame.above && bottom < frame.above) || (top > frame.below && bottom > frame.below)) return;
    const [x0, x1] = [frame.x(start), frame.x(end)];
    const key = `${color} ${alpha} ${thick}`;
    let look = this.looks.get(key);
    if (!look) {
      look = { color, alpha, thick, lines: new Path2D(), heads: new Path2D() };
      this.looks.set(key, look);
    }
    look.lines.moveTo(x0, top);
    look.lines.lineTo(x1, bottom);
    if (heads) arrow(look.heads, x0, top, x1, bottom, 6 * frame.ratio);
    this.count += 1;
  }

  draw() {
    const { context, ratio } = this.frame;
    // Selected links are drawn last.
    for (const { color, alpha, thick, lines, heads } of [...this.looks.values()].sort((a, b) => a.thick - b.thick)) {
      context.globalAlpha = alpha;
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = thick * ratio;
      context.stroke(lines);
      context.fill(heads);
    }
    context.globalAlpha = 1;
  }
}

/**
 * @param {Path2D} path
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} size
 */
export function arrow(path, x0, y0, x1, y1, size) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  path.moveTo(x1, y1);
  path.lineTo(x1 - size * Math.cos(angle - 0.4), y1 - size * Math.sin(angle - 0.4));
  path.lineTo(x1 - size * Math.cos(angle + 0.4), y1 - size * Math.sin(angle + 0.4));
}

/**
 * @param {Data} data
 * @param {State} state
 * @param {Strokes} strokes
 * @param {Lane} lane
 * @param {Segment} segment
 */
function linkRows(data, state, strokes, lane, { block, from, to }) {
  const { viewport, layout, style } = strokes.frame;
  const dense = block.n > 300;
  for (let i = 0; i < block.n && strokes.count < MOST; i++) {
    const [start, end] = [block.start[i], block.end[i]];
    const [first, last] = [Math.min(start, end), Math.max(start, end)];
    // Only the tile in which a link begins draws the link.
    if (last < from || first > to || Math.max(first, viewport.from) < from) continue;
    const [y0, y1] = [layout.places.get(block.others[i]), layout.places.get(block.goals[i])];
    if (y0 === undefined || y1 === undefined) continue;
    const isSelected = state.links?.some((it) => it.lane === lane.id && it.row === block.number[i]);
    if (isSelected) strokes.add({ color: style.accent, alpha: 1, thick: 2.5, heads: true }, start, y0, end, y1);
    else strokes.add({ color: valueOf(data, lane.type, block.values[i]).color, alpha: dense ? 0.4 : 0.75, thick: 1, heads: !dense }, start, y0, end, y1);
  }
}

/**
 * @param {Data} data
 * @param {Strokes} strokes
 * @param {Segment} segment
 */
function linkBins({ model }, strokes, { block, from, to }) {
  const { layout, style } = strokes.frame;
  const width = model.tick * 2 ** block.level;
  for (let i = 0; i < block.n && strokes.count < MOST; i++) {
    const begin = model.origin + (block.first + i) * width;
    if (begin + width < from || begin > to) continue;
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i] && strokes.count < MOST; j++) {
      const [y0, y1] = [layout.places.get(block.values[j]), layout.places.get(block.others[j])];
      if (y0 === undefined || y1 === undefined) continue;
      const count = block.amounts[j];
      // Pairs are spread over the width of the bin, so that they do not form one thick line.
      const time = begin + width * ((((block.values[j] * 31 + block.others[j] * 17 + (block.first + i) * 7) % 64) + 0.5) / 64);
      if (time < from || time > to) continue;
      // A few shades suffice to show the density.
      const alpha = Math.min(0.08 + 0.05 * Math.floor(Math.log2(1 + count) / 2), 0.25);
      strokes.add({ color: style.quiet, alpha, thick: 1, heads: false }, time, y0, time + block.delays[j] / count, y1);
    }
  }
}
