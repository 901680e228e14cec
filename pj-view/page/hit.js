// Finds objects at the pointer.
import { foldedName } from "./folded.js";
import { sublane, visibleLines } from "./layout.js";
import { AXIS, GUTTER } from "./draw.js";

export function lineAt(app, y) {
  const at = y - AXIS + app.viewport.scroll;
  return y < AXIS ? null : visibleLines(app.layout, at, at).find((line) => at >= line.top && at < line.top + line.height) || null;
}

function imbricationAt(app, line, y) {
  if (line.lane.nature !== "state") return 0;
  const at = y - AXIS + app.viewport.scroll - line.top;
  const [, height] = sublane(line, 0);
  return Math.max(0, Math.min(line.lane.depth - 1, Math.floor((at - 2) / height)));
}

// Returns the row of a block at a time, or the nearest row within `slack`.
function rowIn(block, line, imbrication, time, slack) {
  let [best, distance] = [-1, Infinity];
  const isState = line.lane.nature === "state";
  for (let i = 0; i < block.n; i++) {
    if (isState && Math.min(block.others[i], line.lane.depth - 1) !== imbrication) continue;
    const away = Math.max(block.start[i] - time, time - block.end[i], 0);
    // Among equally near rows, the longest one wins.
    if (away <= slack && (away < distance || (away === distance && block.end[i] - block.start[i] > block.end[best] - block.start[best]))) [best, distance] = [i, away];
  }
  return best < 0 ? null : { lane: line.lane.id, row: block.number[best], start: block.start[best], end: block.end[best], value: block.values[best], imbrication: block.others[best], height: block.height[best] };
}

// Returns the objects at a position that have already been drawn, for a tooltip.
export function seenAt(app, x, y) {
  const line = lineAt(app, y);
  if (!(line?.lane || line?.summary) || x < GUTTER) return null;
  const time = app.viewport.time(x - GUTTER);
  const slack = app.viewport.secondsPerPixel * 2;
  if (line.summary) return foldedAt(app, line, time);
  const imbrication = imbricationAt(app, line, y);
  const level = app.tiles.levelFor(app.viewport.secondsPerPixel / (window.devicePixelRatio || 1));
  for (const { block } of app.tiles.segments(line.lane.id, level, time - slack, time + slack)) {
    if (block.isRows) {
      const row = rowIn(block, line, imbrication, time, slack);
      if (row) return { line, time, row };
    } else if (line.lane.nature !== "variable") {
      const width = app.model.tick * 2 ** block.level;
      const i = Math.floor((time - app.model.origin) / width) - block.first;
      if (i < 0 || i >= block.n) continue;
      const parts = [];
      for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) {
        if (line.lane.nature === "event" || block.others[j] === imbrication) parts.push([block.values[j], block.amounts[j]]);
      }
      parts.sort((a, b) => b[1] - a[1]);
      return { line, time, parts, starts: block.starts[i] };
    } else {
      const width = app.model.tick * 2 ** block.level;
      const i = Math.floor((time - app.model.origin) / width) - block.first;
      if (i >= 0 && i < block.n) return { line, time, range: [block.min[i], block.mean[i], block.max[i]] };
    }
  }
  return { line, time };
}

// Returns the values of a folded container at a time, with their types.
function foldedAt(app, line, time) {
  const level = app.tiles.levelFor(app.viewport.secondsPerPixel / (window.devicePixelRatio || 1));
  const name = foldedName(line.container, app.state.hiddenTypes);
  for (const { block } of app.tiles.segments(name, level, time, time)) {
    const i = Math.floor((time - app.model.origin) / (app.model.tick * 2 ** block.level)) - block.first;
    if (i < 0 || i >= block.n) continue;
    const parts = [];
    for (let j = i ? block.ends[i - 1] : 0; j < block.ends[i]; j++) parts.push([block.values[j], block.amounts[j], block.others[j]]);
    parts.sort((a, b) => b[1] - a[1]);
    return { line, time, parts, starts: block.starts[i] };
  }
  return null;
}

// Returns the row at a position. Fetches the row if it is not drawn on its own.
export async function rowAt(app, x, y) {
  const seen = seenAt(app, x, y);
  if (!seen?.line.lane || seen.row) return seen?.row || null;
  const slack = app.viewport.secondsPerPixel;
  const block = await app.tiles.rowsAt(seen.line.lane.id, seen.time, slack);
  return block && rowIn(block, seen.line, imbricationAt(app, seen.line, y), seen.time, slack * 2);
}
