// The picture: lays out the lines, and draws a frame after each change.
import { drawFolded, drawLane } from "./lanes.js";
import { drawLinks } from "./links.js";
import { buildLayout, linesOnScreen, sublane } from "./layout.js";
import { drawMarks } from "./marks.js";
import { colorNumber } from "./model.js";
import { Raster } from "./raster.js";
import { drawAxis, drawLabels, drawNames, gutterFor } from "./text.js";
import { AXIS } from "./viewport.js";
/** @import { Data, Frame, Label, Line, Style } from "./types" */
/** @import { LaneLine } from "./lanes.js" */
/** @import { Overlays } from "./overlays.js" */
/** @import { Paints } from "./paints.js" */
/** @import { State } from "./state.js" */
/** @import { Viewport } from "./viewport.js" */

/** Number of frames whose times are kept, for tests. */
const MOST_TIMES = 2000;

/** @returns {Style} */
function styles() {
  const of = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const get = (name) => of.getPropertyValue(`--${name}`).trim();
  return { back: get("back"), panel: get("panel"), line: get("line"), text: get("text"), quiet: get("quiet"), accent: get("accent") };
}

export class Scene {
  /**
   * @param {{ data: Data, state: State, viewport: Viewport, overlays: Overlays, paints: Paints, canvas: HTMLCanvasElement }} parts
   */
  constructor({ data, state, viewport, overlays, paints, canvas }) {
    this.data = data;
    this.state = state;
    this.viewport = viewport;
    this.overlays = overlays;
    this.paints = paints;
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.raster = new Raster();
    /** @type {Style | null} */
    this.style = null;
    this.isDark = false;
    /** The last frame. @type {Frame | null} */
    this.frame = null;
    this.pending = false;
    /** Milliseconds that frames took to draw. @type {number[]} */
    this.times = [];
    this.layout = buildLayout(data.model, state, this.room);
    state.on(["layout"], () => this.relayout());
    state.on(null, () => this.redraw());
  }

  get room() {
    return this.canvas.clientHeight - AXIS;
  }

  relayout() {
    this.layout = buildLayout(this.data.model, this.state, this.room);
    this.redraw();
  }

  /**
   * Reads the colours of the theme again.
   * @param {boolean} isDark
   */
  restyle(isDark) {
    this.isDark = isDark;
    this.style = null;
    this.redraw();
  }

  /** Draws in the next animation frame. */
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const began = performance.now();
      this.draw();
      this.times.push(performance.now() - began);
      if (this.times.length > MOST_TIMES) this.times.splice(0, MOST_TIMES / 2);
    });
  }

  draw() {
    const frame = this.begin();
    const { context, viewport, layout, ratio } = frame;
    const { data, state, raster, paints } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = frame.style.back;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    raster.resize(frame.width, Math.round(viewport.height * ratio));
    raster.clear(frame.back);
    data.tiles.begin();
    /** @type {Label[]} */
    let labels = [];
    const pen = { raster, data, paints, frame, labels };
    const rule = colorNumber(frame.style.line);
    /** @param {Line} line */
    const drawLine = (line) => {
      const top = Math.round(viewport.y(line.top) * ratio);
      if (!line.minor) raster.rect(0, top, frame.width, top + 1, rule);
      if (line.lane) drawLane(pen, /** @type {LaneLine} */ (line));
      else if (line.summary) drawFolded(pen, line, state.hiddenTypes);
    };
    frame.lines.forEach(drawLine);
    if (frame.pinned.length > 0) {
      const bottom = Math.round(viewport.pinned * ratio);
      pen.labels = labels = labels.filter((label) => label.y > bottom);
      raster.rect(0, 0, frame.width, bottom, frame.back);
      frame.pinned.forEach(drawLine);
      raster.rect(0, bottom - Math.round(2 * ratio), frame.width, bottom, rule);
    }
    const left = Math.round(viewport.gutter * ratio);
    raster.show(context, left, frame.above);

    context.save();
    context.beginPath();
    context.rect(left, frame.above, frame.width, frame.below - frame.above);
    context.clip();
    context.translate(left, 0);
    if (state.showLinks) drawLinks(data, state, frame);
    drawLabels(frame, labels);
    this.overlays.draw(frame);
    drawRange(frame, state);
    drawSelected(frame, state, layout);
    context.restore();
    drawNames(frame, state);
    drawAxis(frame, data.model.units);
    context.save();
    context.translate(left, 0);
    drawMarks(frame, state);
    context.restore();
    data.tiles.send();
  }

  /** Adapts sizes to the window, and returns a frame. */
  begin() {
    const { canvas, viewport, layout, context } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    viewport.gutter = Math.max(gutterFor(layout, width), viewport.leastGutter);
    viewport.width = Math.max(width - viewport.gutter, 1);
    viewport.height = Math.max(height - AXIS, 1);
    // If the pinned lines would fill the window, they scroll like the others.
    viewport.pinned = layout.pinned < viewport.height * 0.6 ? layout.pinned : 0;
    viewport.scroll = Math.max(0, Math.min(viewport.scroll, layout.height - viewport.height + 12));
    const style = (this.style ||= styles());
    const back = colorNumber(style.back);
    this.paints.back = back;
    const plot = Math.round(viewport.width * ratio);
    const [scale, above] = [plot / viewport.span, Math.round(AXIS * ratio)];
    const [pinned, lines] = linesOnScreen(layout, viewport);
    /** @type {Frame} */
    const frame = {
      context, viewport, layout, style, back, ratio, width: plot, above, below: canvas.height,
      pinned, lines,
      level: this.data.tiles.levelFor(viewport.span / plot),
      x: (time) => (time - viewport.from) * scale,
      y: (at) => viewport.y(at) * ratio + above,
    };
    this.frame = frame;
    return frame;
  }
}

/**
 * @param {Frame} frame
 * @param {State} state
 */
function drawRange({ context, style, ratio, below, x }, { range }) {
  if (!range) return;
  const [x0, x1] = range.map(x);
  context.fillStyle = style.accent;
  context.globalAlpha = 0.14;
  context.fillRect(x0, 0, x1 - x0, below);
  context.globalAlpha = 1;
  for (const at of [x0, x1]) context.fillRect(Math.round(at), 0, ratio, below);
}

/**
 * @param {Frame} frame
 * @param {State} state
 * @param {import("./types").Layout} layout
 */
function drawSelected(frame, { selected }, layout) {
  const { context, viewport, style, ratio } = frame;
  const line = selected && layout.byLane.get(selected.lane);
  if (!selected || !line?.lane || selected.start > viewport.to || selected.end < viewport.from) return;
  const [above, height] = line.lane.nature === "state" ? sublane(line, selected.imbrication || 0) : [2, line.height - 4];
  const x0 = Math.max(frame.x(selected.start), -9);
  const x1 = Math.min(Math.max(frame.x(selected.end), x0 + 3), frame.width + 9);
  for (const [color, thick] of /** @type {[string, number][]} */ ([[style.back, 5], [style.text, 2.5]])) {
    context.strokeStyle = color;
    context.lineWidth = thick * ratio;
    context.strokeRect(x0, frame.y(line.top + above), x1 - x0, height * ratio);
  }
}
