// Draws links as lines between containers: one by one if there are few, otherwise bin by bin.
import { valueOf } from "./model.js";

const MOST = 6000;

// Number of levels by which bins of links are coarser than those of lanes.
const COARSER = 5;

export function drawLinks(app, context, place) {
  const { model, state, layout, viewport } = app;
  const strokes = new Strokes(context, place);
  for (const lane of model.lanes.values()) {
    if (lane.nature !== "link" || state.hiddenTypes.has(lane.type)) continue;
    let segments = app.tiles.segments(lane.id, place.level, viewport.from, viewport.to);
    if (!segments.every(({ block }) => block.isRows)) {
      segments = app.tiles.segments(lane.id, Math.min(place.level + COARSER, 63), viewport.from, viewport.to);
    }
    for (const { block, from, to } of segments) {
      const each = block.isRows ? linkRows : linkBins;
      each(app, strokes, place, { block, from, to, lane, places: layout.places });
    }
  }
  strokes.draw();
}

// Lines of the same style share a path. Thousands of paths would take longer than a frame.
class Strokes {
  constructor(context, place) {
    Object.assign(this, { context, place, looks: new Map(), count: 0 });
  }

  add(color, alpha, thick, x0, y0, x1, y1, heads) {
    const { place } = this;
    const [top, bottom] = [place.toY(y0), place.toY(y1)];
    if ((top < place.above && bottom < place.above) || (top > place.below && bottom > place.below)) return;
    const key = `${color} ${alpha} ${thick}`;
    if (!this.looks.has(key)) this.looks.set(key, { color, alpha, thick, lines: new Path2D(), heads: new Path2D() });
    const look = this.looks.get(key);
    look.lines.moveTo(x0, top);
    look.lines.lineTo(x1, bottom);
    if (heads) arrow(look.heads, x0, top, x1, bottom, 6 * place.ratio);
    this.count += 1;
  }

  draw() {
    const { context, place } = this;
    // Selected links are drawn last.
    for (const { color, alpha, thick, lines, heads } of [...this.looks.values()].sort((a, b) => a.thick - b.thick)) {
      context.globalAlpha = alpha;
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = thick * place.ratio;
      context.stroke(lines);
      context.fill(heads);
    }
    context.globalAlpha = 1;
  }
}

function arrow(path, x0, y0, x1, y1, size) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  path.moveTo(x1, y1);
  path.lineTo(x1 - size * Math.cos(angle - 0.4), y1 - size * Math.sin(angle - 0.4));
  path.lineTo(x1 - size * Math.cos(angle + 0.4), y1 - size * Math.sin(angle + 0.4));
}

function linkRows(app, strokes, place, { block, from, to, lane, places }) {
  const { viewport, state } = app;
  const dense = block.n > 300;
  for (let i = 0; i < block.n && strokes.count < MOST; i++) {
    const [start, end] = [block.start[i], block.end[i]];
    const [first, last] = [Math.min(start, end), Math.max(start, end)];
    // Only the tile in which a link begins draws the link.
    if (last < from || first > to || Math.max(first, viewport.from) < from) continue;
    const [y0, y1] = [places.get(block.others[i]), places.get(block.goals[i])];
    if (y0 === undefined || y1 === undefined) continue;
    const isSelected = state.links?.some((it) => it.lane === lane.id && it.row === block.number[i]);
    const color = isSelected ? place.accent : valueOf(app, lane.type, block.values[i]).color;
    const alpha = isSelected ? 1 : dense ? 0.4 : 0.75;
    strokes.add(color, alpha, isSelected ? 2.5 : 1, place.x(start), y0, place.x(end), y1, isSelected || !dense);
  }
}

function linkBins(app, strokes, place, { block, from, to, places }) {
  const width = app.model.tick * 2 ** block.level;
  for (let i = 0; i < block.n && strokes.count < MOST; i++) {
    const begin = app.model.origin + (block.first + i) * width;
    if (begin + width < from || begin > to) continue;
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i] && strokes.count < MOST; j++) {
      const [y0, y1] = [places.get(block.values[j]), places.get(block.others[j])];
      if (y0 === undefined || y1 === undefined) continue;
      const count = block.amounts[j];
      // Pairs are spread over the width of the bin, so that they do not form one thick line.
      const time = begin + width * ((((block.values[j] * 31 + block.others[j] * 17 + (block.first + i) * 7) % 64) + 0.5) / 64);
      if (time < from || time > to) continue;
      // A few shades suffice to show the density.
      const alpha = Math.min(0.08 + 0.05 * Math.floor(Math.log2(1 + count) / 2), 0.25);
      strokes.add(place.quiet, alpha, 1, place.x(time), y0, place.x(time + block.delays[j] / count), y1, false);
    }
  }
}
