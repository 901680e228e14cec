// The tip at the pointer, and the mark of its time on the axis. Both are only for the eye: what screen readers need is in
// the panels.
import { byId } from "./dom.js";
import { lineAt, seenAt } from "./hit.js";
import { pathOf, valueOf } from "./model.js";
import { AXIS } from "./viewport.js";
/** @import { Page } from "./types" */
/** @import { Seen } from "./hit.js" */

export function hideTip() {
  byId("tip").hidden = true;
  byId("hair").hidden = true;
}

/**
 * Shows what is at a position of the stage.
 * @param {Page} page
 * @param {number} x
 * @param {number} y
 */
export function showTip(page, x, y) {
  const { viewport } = page;
  const node = byId("tip");
  const lines = textAt(page, x, y);
  node.hidden = !lines;
  if (!lines) return;
  node.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
  node.style.left = `${Math.max(0, Math.min(x + 14, viewport.width + viewport.gutter - node.offsetWidth - 6))}px`;
  node.style.top = `${Math.min(y + 18, viewport.height + AXIS - node.offsetHeight - 4)}px`;
}

/**
 * Marks the time at the pointer on the axis.
 * @param {Page} page
 * @param {number} x
 */
export function showHair({ viewport, data }, x) {
  const node = byId("hair");
  const at = x - viewport.gutter;
  node.hidden = at < 0 || at > viewport.width;
  if (node.hidden) return;
  node.style.transform = `translateX(${x}px)`;
  const largest = Math.max(Math.abs(viewport.from), Math.abs(viewport.to));
  if (node.firstElementChild) node.firstElementChild.textContent = data.model.units.mark(viewport.time(at), viewport.secondsPerPixel, largest);
}

/**
 * @param {Page} page
 * @param {number} x
 * @param {number} y
 */
function textAt(page, x, y) {
  const { gutter } = page.viewport;
  if (x < gutter) return nameText(page, y);
  return page.overlays.hit(x - gutter, y, page.scene.frame)?.text || seenText(page, seenAt(page, x, y));
}

/**
 * Returns the full name and the path of a line's container or lane.
 * @param {Page} page
 * @param {number} y
 */
function nameText(page, y) {
  const line = lineAt(page, y);
  if (!line) return null;
  const path = pathOf(page.data.model, line.container);
  return line.label === path ? [path] : [line.label, path];
}

/**
 * @param {Page} page
 * @param {Seen | null} seen
 */
function seenText({ data, viewport }, seen) {
  if (!seen) return null;
  const { types, units } = data.model;
  const { line, row, parts, starts, range, time } = seen;
  const around = viewport.span;
  const nature = line.lane?.nature;
  const type = line.lane?.type ?? 0;
  if (row && nature === "variable") return [`${types[type].name}: ${row.height}`, `${units.format(row.start, around)}, for ${units.format(row.end - row.start)}`];
  if (row) {
    const when = units.format(row.start, around);
    return [valueOf(data, type, row.value ?? 0).name, nature === "event" ? when : `${units.format(row.end - row.start)} from ${when}`];
  }
  if (parts && parts.length > 0) {
    /** @param {number} amount */
    const share = (amount) => (nature === "event" ? `${amount}` : `${(amount * 100).toFixed(0)} %`);
    return [...parts.slice(0, 5).map(([value, amount, of]) => `${share(amount)}  ${valueOf(data, of, value).name}`), `${starts} begin here, at ${units.format(time, around)}`];
  }
  if (range && range[0] <= range[2]) return [`${types[type].name}: ${range.map((it) => Number(it.toPrecision(6))).join(" … ")}`];
  return null;
}
