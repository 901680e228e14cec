// Panel of the selected row.
import { togglePin } from "./containers.js";
import { button, el, pairs, quiet, swatch, table } from "./dom.js";
import { laneOf, pathOf, valueOf } from "./model.js";
/** @import { Details, LinkAnswer, Page, Row } from "./types" */

/** @param {Page} page */
export function addDetails(page) {
  page.panels.add({ id: "details", title: "Selection", after: ["selection", "layout"], update: (_, row) => contents(page, row) });
}

/**
 * @param {Page} page
 * @param {Row | Details | null} selected
 */
function contents(page, selected) {
  if (!selected) return [quiet("Click a state, or drag with Shift to select a range of time.")];
  const row = /** @type {Details} */ (selected);
  const { data } = page;
  const { model } = data;
  const { units } = model;
  const lane = laneOf(model, row.lane);
  const type = model.types[lane.type];
  const value = lane.nature === "variable" ? null : valueOf(data, lane.type, row.value ?? 0);
  /** @param {number | undefined} id */
  const name = (id) => (id === undefined ? null : pathOf(model, id));
  const isPoint = row.end === row.start;
  /** @type {[string, (Node | string | null | undefined)][]} */
  const list = [
    [type.name, value ? el("span", {}, swatch(value.color), value.name) : String(row.height)],
    ["Container", el("span", {}, name(lane.container), " ", pin(page, lane.container))],
    ["From", `${row.start / units.second} s`],
    ["To", isPoint ? null : `${row.end / units.second} s`],
    ["Duration", isPoint ? null : units.format(row.end - row.start)],
    ["Imbrication", lane.nature === "state" ? String(row.imbrication) : null],
    ["Origin", name(row.from)],
    ["Goal", name(row.to)],
    ["Key", row.key],
    ["Line", row.line === undefined ? null : `${row.line}${row.file ? ` of ${row.file}` : ""}`],
    ...(row.fields || []).map((field) => colored(page, field)),
    ["Fields, line", model.fields || data.source.embedded ? null : "not kept: pj_view --fields keeps them"],
  ];
  const links = row.links || [];
  return links.length > 0 ? [pairs(list), linkTable(page, links, lane.container)] : [pairs(list)];
}

/**
 * Returns a button that pins a container to the top.
 * @param {Page} page
 * @param {number} container
 */
function pin(page, container) {
  if (container === 0) return null;
  const isPinned = page.state.pins.has(container);
  const made = button("go tool", isPinned ? "Do not keep it at the top" : "Keep it at the top", () => togglePin(page, container), isPinned ? "Unpin" : "Pin");
  made.setAttribute("aria-label", `${isPinned ? "Unpin" : "Pin"} ${page.data.model.containers.get(container)?.name}`);
  return made;
}

/**
 * Returns a field, with a button that colours the timeline by it.
 * @param {Page} page
 * @param {[string, string]} field
 * @returns {[string, Node]}
 */
function colored({ state }, [name, value]) {
  const color = button("go tool", `Colour by ${name}`, () => {
    state.color = { by: "field", name };
    state.changed("color");
  }, "◐");
  color.setAttribute("aria-label", `Colour by ${name}`);
  return [name, el("span", {}, value, " ", color)];
}

/**
 * @param {Page} page
 * @param {LinkAnswer[]} links
 * @param {number} container
 */
function linkTable({ data, navigator }, links, container) {
  const { model } = data;
  const rows = links.map((link) => {
    const leaves = link.from === container;
    const other = model.containers.get(leaves ? link.to : link.from)?.name || "?";
    const value = valueOf(data, laneOf(model, link.lane).type, link.value);
    const go = button("go", "Go to the other end", () => navigator.follow(link, leaves), `${leaves ? "→" : "←"} ${other}`);
    return [go, value.name, model.units.format(leaves ? link.end : link.start)];
  });
  const made = table("Links that begin or end in it", ["Link", "Value", ["At", "number"]], rows);
  made.id = "linktable";
  return made;
}
