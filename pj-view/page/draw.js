// Draws a frame: axis, names, lanes, links and selection.
import { colorNumber, formatTime, second } from "./model.js";
import { sublane, visibleLines } from "./layout.js";
import { drawFolded, drawLane } from "./lanes.js";
import { drawLinks } from "./links.js";

// Width of the column of names in pixels. It adapts to the names and the window.
export let GUTTER = 210;
export const AXIS = 34;
const FONT = '"Helvetica Neue", "Segoe UI", "DejaVu Sans", sans-serif';

function styles() {
  const of = getComputedStyle(document.documentElement);
  const get = (name) => of.getPropertyValue(`--${name}`).trim();
  return { back: get("back"), panel: get("panel"), line: get("line"), text: get("text"), quiet: get("quiet"), accent: get("accent") };
}

const NARROWEST = 210;
const WIDEST = 380;
const LETTER = 6.8;

function gutterFor(layout, width) {
  layout.names ||= layout.lines.reduce((most, line) => Math.max(most, nameLeft(line) + line.label.length * LETTER + scaleRoom(line) + 14), 0);
  return Math.round(Math.max(NARROWEST, Math.min(layout.names, WIDEST, width * 0.26)));
}

const nameLeft = (line) => 20 + Math.min(line.indent, 8) * 12;

// Returns the width of a variable's scale in pixels.
const scaleRoom = (line) => (line.lane?.nature === "variable" ? 44 : 0);

export function drawFrame(app, canvas) {
  const { viewport, layout, state } = app;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  GUTTER = gutterFor(layout, width);
  viewport.width = Math.max(width - GUTTER, 1);
  viewport.height = Math.max(height - AXIS, 1);
  viewport.scroll = Math.max(0, Math.min(viewport.scroll, layout.height - viewport.height + 12));
  const style = (app.style ||= styles());
  app.back = colorNumber(style.back);
  const context = canvas.getContext("2d", { alpha: false });
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = style.back;
  context.fillRect(0, 0, canvas.width, canvas.height);

  const plot = Math.round(viewport.width * ratio);
  app.raster.resize(plot, Math.round(viewport.height * ratio));
  app.raster.clear(app.back);
  app.tiles.begin();
  const scale = plot / viewport.span;
  const place = { ratio, width: plot, level: app.tiles.levelFor(viewport.span / plot), x: (time) => (time - viewport.from) * scale };
  const lines = visibleLines(layout, viewport.scroll, viewport.scroll + viewport.height);
  const labels = [];
  const rule = colorNumber(style.line);
  for (const line of lines) {
    place.top = (line.top - viewport.scroll) * ratio;
    if (!line.minor) app.raster.rect(0, Math.round(place.top), plot, Math.round(place.top) + 1, rule);
    if (line.lane) drawLane(app, line, place, labels);
    else if (line.summary) drawFolded(app, line, place);
  }
  const [left, above] = [Math.round(GUTTER * ratio), Math.round(AXIS * ratio)];
  app.raster.show(context, left, above);

  context.save();
  context.beginPath();
  context.rect(left, above, plot, canvas.height - above);
  context.clip();
  context.translate(left, 0);
  const toY = (y) => (y - viewport.scroll) * ratio + above;
  if (state.showLinks) drawLinks(app, context, { ...place, toY, above, below: canvas.height, accent: style.accent, quiet: style.quiet });
  drawLabels(context, labels, ratio, above);
  drawSelection(app, context, place, style, toY, canvas.height);
  context.restore();
  drawGutter(app, context, lines, ratio, style, toY, canvas);
  drawAxis(app, context, place, style, left);
  app.tiles.send();
}

function drawLabels(context, labels, ratio, above) {
  context.font = `${11 * ratio}px ${FONT}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const widths = new Map();
  for (const { text, x, width, y, light } of labels) {
    if (!widths.has(text)) widths.set(text, context.measureText(text).width);
    const room = width - 8 * ratio;
    let shown = text;
    if (widths.get(text) > room) {
      const letters = Math.floor((text.length * room) / widths.get(text)) - 1;
      if (letters < 2) continue;
      shown = `${text.slice(0, letters)}…`;
    }
    context.fillStyle = light ? "rgb(0 0 0 / 85%)" : "rgb(255 255 255 / 95%)";
    context.fillText(shown, x + 5 * ratio, y + above + ratio);
  }
}

// Shortens a text to the available width.
function shortened(context, text, room) {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  const letters = Math.floor((text.length * room) / width) - 1;
  return letters < 1 ? "…" : `${text.slice(0, letters)}…`;
}

function drawSelection(app, context, place, style, toY, bottom) {
  const { state, layout, viewport } = app;
  if (state.range) {
    const [x0, x1] = state.range.map(place.x);
    context.fillStyle = style.accent;
    context.globalAlpha = 0.14;
    context.fillRect(x0, 0, x1 - x0, bottom);
    context.globalAlpha = 1;
    for (const x of [x0, x1]) context.fillRect(Math.round(x), 0, place.ratio, bottom);
  }
  const line = state.selected && layout.byLane.get(state.selected.lane);
  if (line && state.selected.start <= viewport.to && state.selected.end >= viewport.from) {
    const [above, height] = line.lane.nature === "state" ? sublane(line, state.selected.imbrication || 0) : [2, line.height - 4];
    const x0 = Math.max(place.x(state.selected.start), -9);
    const x1 = Math.min(Math.max(place.x(state.selected.end), x0 + 3), place.width + 9);
    for (const [color, thick] of [[style.back, 5], [style.text, 2.5]]) {
      context.strokeStyle = color;
      context.lineWidth = thick * place.ratio;
      context.strokeRect(x0, toY(line.top + above), x1 - x0, height * place.ratio);
    }
  }
}

function drawGutter(app, context, lines, ratio, style, toY, canvas) {
  const { state } = app;
  context.fillStyle = style.panel;
  context.fillRect(0, 0, Math.round(GUTTER * ratio), canvas.height);
  context.save();
  context.beginPath();
  context.rect(0, Math.round(AXIS * ratio), Math.round(GUTTER * ratio) - 8 * ratio, canvas.height);
  context.clip();
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const line of lines) {
    if (line.container === state.cursor && !line.minor) {
      context.fillStyle = style.accent;
      context.globalAlpha = 0.16;
      context.fillRect(0, toY(line.top), GUTTER * ratio, line.height * ratio);
      context.globalAlpha = 1;
    }
    const y = toY(line.top) + Math.min(line.height, 40) * ratio * 0.5;
    const x = nameLeft(line) * ratio;
    if (line.folds) {
      context.fillStyle = style.quiet;
      context.beginPath();
      const [cx, s] = [x - 9 * ratio, 3.5 * ratio];
      if (line.folded) context.moveTo(cx - s * 0.6, y - s), context.lineTo(cx + s, y), context.lineTo(cx - s * 0.6, y + s);
      else context.moveTo(cx - s, y - s * 0.6), context.lineTo(cx + s, y - s * 0.6), context.lineTo(cx, y + s);
      context.fill();
    }
    context.font = `${line.lane && !line.minor ? 500 : line.minor ? 400 : 600} ${12 * ratio}px ${FONT}`;
    context.fillStyle = line.container === state.dragged ? style.accent : line.minor ? style.quiet : style.text;
    const room = (GUTTER - 10 - scaleRoom(line)) * ratio - x;
    context.fillText(shortened(context, line.label, room), x, y + ratio);
    if (line.lane?.nature === "variable") {
      context.font = `${10 * ratio}px ${FONT}`;
      context.fillStyle = style.quiet;
      context.textAlign = "right";
      const end = (GUTTER - 10) * ratio;
      context.fillText(Number(Math.max(line.lane.max, 0).toPrecision(4)), end, toY(line.top) + 8 * ratio);
      context.fillText(Number(Math.min(line.lane.min, 0).toPrecision(4)), end, toY(line.top + line.height) - 7 * ratio);
      context.textAlign = "left";
    }
  }
  context.restore();
}

export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least * 0.999999);
}

function drawAxis(app, context, place, style, left) {
  const { viewport } = app;
  const { ratio } = place;
  const height = Math.round(AXIS * ratio);
  context.fillStyle = style.panel;
  context.fillRect(0, 0, left + place.width, height);
  context.fillStyle = style.line;
  context.fillRect(0, height - ratio, left + place.width, ratio);
  context.fillRect(left - ratio, 0, ratio, context.canvas.height);
  // Draws the position of the window in the whole trace.
  const [low, high] = viewport.extent;
  const part = (time) => left + Math.min(Math.max((time - low) / (high - low || 1), 0), 1) * place.width;
  context.fillRect(left, 0, place.width, 4 * ratio);
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
    const x = left + Math.round(place.x(time));
    context.fillStyle = style.quiet;
    context.fillRect(x, height - 6 * ratio, ratio, 5 * ratio);
    if (x > left + 26 * ratio && x < left + place.width - 26 * ratio) context.fillText(axisLabel(time, step, largest), x, 17 * ratio);
  }
  context.textAlign = "right";
  context.fillStyle = style.quiet;
  const seen = Math.min(viewport.to, high) - Math.max(viewport.from, low);
  if (seen > 0) context.fillText(`${formatTime(seen)} on the screen`, left - 10 * ratio, 19 * ratio);
}

// Returns the label of a mark. All marks of an axis have the same unit, and just enough digits to distinguish them.
export function axisLabel(time, step, largest) {
  const unit = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([size]) => largest / second >= size * 0.999) || [1e-9, "ns"];
  const size = unit[0] * second;
  const digits = Math.min(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)), 12);
  return `${(time / size).toFixed(digits)} ${unit[1]}`;
}
