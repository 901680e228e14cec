// Draws texts: names of states, the column of names, and the axis.
import { isAt } from "./layout.js";
import { niceStep } from "./units.js";
import { AXIS } from "./viewport.js";
/** @import { Frame, Label, Layout, Line } from "./types" */
/** @import { Units } from "./units.js" */

const FONT = '"Helvetica Neue", "Segoe UI", "DejaVu Sans", sans-serif';
const NARROWEST = 210;
const WIDEST = 380;
const LETTER = 6.8;

/** Width of the names from which there is room for the scales of variables. */
const SCALED = 170;

/**
 * Returns the width of the column of names, which adapts to the names and the window.
 * @param {Layout} layout
 * @param {number} width
 */
export function gutterFor(layout, width) {
  layout.names ||= layout.lines.reduce((most, line) => Math.max(most, nameLeft(line, WIDEST) + line.label.length * LETTER + scaleRoom(line, WIDEST) + 14), 0);
  const least = Math.min(NARROWEST, width * 0.36);
  return Math.round(Math.max(least, Math.min(layout.names, WIDEST, width * 0.26)));
}

/**
 * Returns the left end of a name in CSS pixels.
 * @param {Line} line
 * @param {number} gutter
 */
const nameLeft = (line, gutter) => 20 + Math.min(line.indent, 8) * (gutter < SCALED ? 5 : 12);

/**
 * Returns the width of a variable's scale in CSS pixels.
 * @param {Line} line
 * @param {number} gutter
 */
const scaleRoom = (line, gutter) => (line.lane?.nature === "variable" && gutter >= SCALED ? 44 : 0);

/**
 * @param {Frame} frame
 * @param {Label[]} labels
 */
export function drawLabels({ context, ratio, above }, labels) {
  context.font = `${11 * ratio}px ${FONT}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  /** @type {Map<string, number>} */
  const widths = new Map();
  for (const { text, x, width, y, light } of labels) {
    const own = widths.get(text) ?? context.measureText(text).width;
    widths.set(text, own);
    const room = width - 8 * ratio;
    let shown = text;
    if (own > room) {
      const letters = Math.floor((text.length * room) / own) - 1;
      if (letters < 2) continue;
      shown = `${text.slice(0, letters)}…`;
    }
    context.fillStyle = light ? "rgb(0 0 0 / 85%)" : "rgb(255 255 255 / 95%)";
    context.fillText(shown, x + 5 * ratio, y + above + ratio);
  }
}

/**
 * Shortens a text to the available width.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function shortened(context, text, room) {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  const letters = Math.floor((text.length * room) / width) - 1;
  return letters < 1 ? "…" : `${text.slice(0, letters)}…`;
}

/**
 * Draws the names of the lines at the left.
 * @param {Frame} frame
 * @param {{ cursor: number | null, cursorLane: number | null, dragged: number | null }} state
 */
export function drawNames(frame, state) {
  const { context, ratio, style, viewport } = frame;
  const { gutter } = viewport;
  context.fillStyle = style.panel;
  context.fillRect(0, 0, Math.round(gutter * ratio), frame.below);
  context.save();
  context.beginPath();
  context.rect(0, frame.above, Math.round(gutter * ratio) - 8 * ratio, frame.below);
  context.clip();
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const line of frame.lines) drawName(frame, line, state);
  if (frame.pinned.length > 0) {
    context.fillStyle = style.panel;
    context.fillRect(0, frame.above, gutter * ratio, viewport.pinned * ratio);
    for (const line of frame.pinned) drawName(frame, line, state);
    context.fillStyle = style.line;
    context.fillRect(0, frame.above + (viewport.pinned - 2) * ratio, gutter * ratio, 2 * ratio);
  }
  context.restore();
}

/**
 * @param {Frame} frame
 * @param {Line} line
 * @param {{ cursor: number | null, cursorLane: number | null, dragged: number | null }} state
 */
function drawName(frame, line, state) {
  const { context, ratio, style, viewport } = frame;
  const { gutter } = viewport;
  const top = frame.y(line.top);
  if (isAt(line, state)) {
    context.fillStyle = style.accent;
    context.globalAlpha = 0.16;
    context.fillRect(0, top, gutter * ratio, line.height * ratio);
    context.globalAlpha = 1;
  }
  const y = top + Math.min(line.height, 40) * ratio * 0.5;
  const x = nameLeft(line, gutter) * ratio;
  if (line.folds) drawTriangle(frame, x - 9 * ratio, y, Boolean(line.folded));
  context.font = `${line.lane && !line.minor ? 500 : line.minor ? 400 : 600} ${12 * ratio}px ${FONT}`;
  context.fillStyle = line.container === state.dragged ? style.accent : line.minor ? style.quiet : style.text;
  const room = (gutter - 10 - scaleRoom(line, gutter)) * ratio - x;
  context.fillText(shortened(context, line.label, room), x, y + ratio);
  if (line.lane && scaleRoom(line, gutter) > 0) drawScale(frame, line.lane, top, line.height);
}

/**
 * Draws the mark of a container that can be folded.
 * @param {Frame} frame
 * @param {number} x
 * @param {number} y
 * @param {boolean} isFolded
 */
function drawTriangle({ context, ratio, style }, x, y, isFolded) {
  const size = 3.5 * ratio;
  context.fillStyle = style.quiet;
  context.beginPath();
  if (isFolded) {
    context.moveTo(x - size * 0.6, y - size);
    context.lineTo(x + size, y);
    context.lineTo(x - size * 0.6, y + size);
  } else {
    context.moveTo(x - size, y - size * 0.6);
    context.lineTo(x + size, y - size * 0.6);
    context.lineTo(x, y + size);
  }
  context.fill();
}

/**
 * Draws the greatest and the least value of a variable.
 * @param {Frame} frame
 * @param {{ min: number, max: number }} lane
 * @param {number} top
 * @param {number} height
 */
function drawScale({ context, ratio, style, viewport }, { min, max }, top, height) {
  context.font = `${10 * ratio}px ${FONT}`;
  context.fillStyle = style.quiet;
  context.textAlign = "right";
  const end = (viewport.gutter - 10) * ratio;
  context.fillText(String(Number(Math.max(max, 0).toPrecision(4))), end, top + 8 * ratio);
  context.fillText(String(Number(Math.min(min, 0).toPrecision(4))), end, top + (height - 7) * ratio);
  context.textAlign = "left";
}

/**
 * Draws the axis, and the position of the window in the whole trace.
 * @param {Frame} frame
 * @param {Units} units
 */
export function drawAxis(frame, units) {
  const { context, ratio, style, viewport } = frame;
  const left = Math.round(viewport.gutter * ratio);
  const height = Math.round(AXIS * ratio);
  context.fillStyle = style.panel;
  context.fillRect(0, 0, left + frame.width, height);
  context.fillStyle = style.line;
  context.fillRect(0, height - ratio, left + frame.width, ratio);
  context.fillRect(left - ratio, 0, ratio, frame.below);
  const [low, high] = viewport.extent;
  /** @param {number} time */
  const part = (time) => left + Math.min(Math.max((time - low) / (high - low || 1), 0), 1) * frame.width;
  context.fillRect(left, 0, frame.width, 4 * ratio);
  context.fillStyle = style.accent;
  context.fillRect(part(viewport.from), 0, Math.max(part(viewport.to) - part(viewport.from), 3 * ratio), 4 * ratio);
  const step = niceStep((viewport.span / viewport.width) * 84);
  context.font = `${11 * ratio}px ${FONT}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const largest = Math.max(Math.abs(viewport.from), Math.abs(viewport.to));
  const first = Math.ceil(viewport.from / step);
  for (let i = 0; i < 200 && (first + i) * step <= viewport.to; i++) {
    const time = (first + i) * step;
    const x = left + Math.round(frame.x(time));
    context.fillStyle = style.quiet;
    context.fillRect(x, height - 6 * ratio, ratio, 5 * ratio);
    if (x > left + 26 * ratio && x < left + frame.width - 26 * ratio) context.fillText(units.mark(time, step, largest), x, 17 * ratio);
  }
  context.textAlign = "right";
  context.fillStyle = style.quiet;
  const seen = Math.min(viewport.to, high) - Math.max(viewport.from, low);
  if (seen > 0) context.fillText(shortened(context, `${units.format(seen)} on the screen`, left - 14 * ratio), left - 10 * ratio, 19 * ratio);
}
