// Keeps the view in the address, so that it can be sent, and in the browser's history, so that Back and Forward work.
//
// Changes of the view replace the current entry of the history once they are at rest. A jump, such as a selection or a
// hit of a search, makes a new entry: Back returns to the view from before the jump.
/** @import { Color, Interval, Model, Query, TypedValue, Within } from "./types" */
/** @import { Mark } from "./marks.js" */
/** @import { State } from "./state.js" */
/** @import { Viewport } from "./viewport.js" */

const REST = 250;
const LONGEST_ORDER = 4000;

/**
 * The view as the address has it.
 * @typedef {object} View
 * @property {Interval | null} window
 * @property {number} scroll
 * @property {{ lane: number, row: number } | null} selected
 * @property {Interval | null} range
 * @property {Set<number>} folded
 * @property {Set<number>} hiddenTypes
 * @property {Map<number, number[]>} order
 * @property {Set<string>} overlays
 * @property {TypedValue | null} search
 * @property {Color} color
 * @property {Query | null} query
 * @property {Mark[]} marks
 * @property {Set<number>} pins
 * @property {string} filter
 * @property {boolean} showLinks
 * @property {boolean | null} dark
 */

/**
 * Returns the part of the address after the `#`.
 * @param {View} view
 */
export function encode(view) {
  const values = new URLSearchParams();
  if (view.window) values.set("t", view.window.join(","));
  if (view.scroll > 0) values.set("y", String(Math.round(view.scroll)));
  if (view.selected) values.set("sel", `${view.selected.lane},${view.selected.row}`);
  if (view.range) values.set("range", view.range.join(","));
  if (view.folded.size > 0) values.set("folded", [...view.folded].join(","));
  if (view.hiddenTypes.size > 0) values.set("hidden", [...view.hiddenTypes].join(","));
  if (view.overlays.size > 0) values.set("on", [...view.overlays].join(","));
  if (view.search) values.set("search", `${view.search.type},${view.search.value}`);
  if (view.color.by !== "value") values.set("color", view.color.by === "field" ? `field:${view.color.name}` : view.color.by);
  if (view.query) values.set("find", `${view.query.within},${view.query.text}`);
  if (view.marks.length > 0) values.set("marks", view.marks.map(({ time, name }) => `${time}~${encodeURIComponent(name)}`).join(","));
  if (view.pins.size > 0) values.set("pins", [...view.pins].join(","));
  if (view.filter) values.set("filter", view.filter);
  if (!view.showLinks) values.set("links", "0");
  if (view.dark !== null) values.set("theme", view.dark ? "dark" : "light");
  const order = [...view.order].map(([parent, list]) => `${parent}:${list.join(".")}`).join(",");
  if (order && order.length < LONGEST_ORDER) values.set("order", order);
  return values.toString().replaceAll("%2C", ",");
}

/** @type {(text: string | null) => Color} */
const color = (text) => {
  if (text === "class" || text === "duration") return { by: text };
  return text?.startsWith("field:") ? { by: "field", name: text.slice(6) } : { by: "value" };
};

/** @type {(text: string | null) => Query | null} */
const query = (text) => {
  const [, within, wanted] = /^(value|container|key|field),(.+)$/.exec(text || "") || [];
  return wanted ? { within: /** @type {Within} */ (within), text: wanted } : null;
};

/** @type {(text: string | null) => Mark[]} */
const marks = (text) => {
  const parts = (text || "").split(",").map((part) => /^([^~]+)~(.+)$/.exec(part));
  return parts.flatMap((part) => (part && Number.isFinite(Number(part[1])) ? [{ time: Number(part[1]), name: decoded(part[2]) }] : []));
};

/** @param {string} text */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** @param {string | null} text */
const numbers = (text) => (text ? text.split(",").map(Number) : []);

/** @type {(text: string | null) => Interval | null} */
const interval = (text) => {
  const [from, to] = numbers(text);
  return from < to ? [from, to] : null;
};

/**
 * Returns the view of an address. Whatever the trace does not have is left out.
 * @param {string} text
 * @param {Pick<Model, "containers" | "types" | "lanes">} model
 * @returns {View}
 */
export function decode(text, model) {
  const values = new URLSearchParams(text);
  const [lane, row] = numbers(values.get("sel"));
  const [type, value] = numbers(values.get("search"));
  const theme = values.get("theme");
  /** @type {Map<number, number[]>} */
  const order = new Map();
  for (const part of (values.get("order") || "").split(",")) {
    const [parent, list] = part.split(":");
    const children = model.containers.get(Number(parent))?.children;
    const wanted = (list || "").split(".").map(Number);
    if (children && wanted.length === children.length && children.every((id) => wanted.includes(id))) order.set(Number(parent), wanted);
  }
  return {
    window: interval(values.get("t")),
    scroll: Number(values.get("y")) || 0,
    selected: model.lanes.has(lane) && Number.isInteger(row) && row >= 0 ? { lane, row } : null,
    range: interval(values.get("range")),
    folded: new Set(numbers(values.get("folded")).filter((id) => model.containers.has(id))),
    hiddenTypes: new Set(numbers(values.get("hidden")).filter((id) => model.types[id])),
    order,
    pins: new Set(numbers(values.get("pins")).filter((id) => id !== 0 && model.containers.has(id))),
    overlays: new Set((values.get("on") || "").split(",").filter((id) => /^[a-z-]+$/.test(id))),
    search: Number.isInteger(value) && value >= 0 && value < model.types[type]?.values.length ? { type, value } : null,
    color: color(values.get("color")),
    query: query(values.get("find")),
    marks: marks(values.get("marks")),
    filter: values.get("filter") || "",
    showLinks: values.get("links") !== "0",
    dark: theme ? theme === "dark" : null,
  };
}

export class Address {
  /**
   * @param {State} state
   * @param {Viewport} viewport
   */
  constructor(state, viewport) {
    this.state = state;
    this.viewport = viewport;
    this.isJump = false;
    this.timer = 0;
    state.on(null, () => this.later());
  }

  /** Returns the current view. @returns {View} */
  view() {
    const { state, viewport } = this;
    const { folded, hiddenTypes, order, pins, overlays, search, color: chosen, query: asked, marks: marked, filter, showLinks, dark, selected, range } = state;
    return { window: [viewport.from, viewport.to], scroll: viewport.scroll, folded, hiddenTypes, order, pins, overlays, search, color: chosen, query: asked, marks: marked, filter, showLinks, dark, selected, range };
  }

  later() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), REST);
  }

  /** Keeps the view in the current entry. The next change makes a new entry. */
  leave() {
    if (this.timer) this.write();
    this.isJump = true;
  }

  write() {
    clearTimeout(this.timer);
    this.timer = 0;
    const text = `#${encode(this.view())}`;
    const { isJump } = this;
    this.isJump = false;
    if (text === location.hash) return;
    if (isJump) history.pushState(null, "", text);
    else history.replaceState(null, "", text);
  }

  /**
   * Shows the view of the address, except the selected row, which it returns.
   * @param {Model} model
   */
  read(model) {
    const { state, viewport } = this;
    const { window, scroll, selected, dark, ...view } = decode(location.hash.slice(1), model);
    if (window) viewport.show(...window);
    viewport.scroll = scroll;
    Object.assign(state, view);
    state.dark = dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
    return selected;
  }

  idle() {
    return this.timer === 0;
  }
}
