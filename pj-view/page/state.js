// The reader's choices, except the window of time (viewport.js). Other modules change it and say what they
// have changed; modules that show it listen.
/** @import { Color, Details, Interval, LinkAnswer, Query, Row, TypedValue } from "./types" */

/** @import { Mark } from "./marks.js" */

/**
 * Kinds of changes:
 * - `layout`: which lines there are, and their order.
 * - `window`: the visible or the selected times.
 * - `selection`: the selected row.
 * - `search`: the value that is searched for.
 * - `marks`: the markers.
 * - `color`: what decides the colours.
 * - `look`: the theme, overlays, and other things that only change the picture.
 * @typedef {"layout" | "window" | "selection" | "search" | "marks" | "color" | "look"} Kind
 */

export class State {
  constructor() {
    /** Folded containers. @type {Set<number>} */
    this.folded = new Set();
    /** @type {Set<number>} */
    this.hiddenTypes = new Set();
    /** Children of containers whose order was changed. @type {Map<number, number[]>} */
    this.order = new Map();
    /** Containers whose lines stay at the top. @type {Set<number>} */
    this.pins = new Set();
    this.filter = "";
    this.showLinks = true;
    this.dark = false;
    /** @type {Row | Details | null} */
    this.selected = null;
    /** Links of the selected state. @type {LinkAnswer[] | null} */
    this.links = null;
    /** Selected times. @type {Interval | null} */
    this.range = null;
    /** @type {TypedValue | null} */
    this.search = null;
    /** @type {Color} */
    this.color = { by: "value" };
    /** Query of the list of hits. @type {Query | null} */
    this.query = null;
    /** Markers in order of time. @type {Mark[]} */
    this.marks = [];
    /** Place of the last hit. @type {Row | null} */
    this.place = null;
    /** Container to which keys apply. @type {number | null} */
    this.cursor = null;
    /** Lane of that container to which keys apply. @type {number | null} */
    this.cursorLane = null;
    /** Container whose name is being dragged. @type {number | null} */
    this.dragged = null;
    /** Overlays that are shown. @type {Set<string>} */
    this.overlays = new Set();
    /** @type {[Set<Kind> | null, (kind: Kind) => void][]} */
    this.listeners = [];
  }

  /**
   * Calls `listener` after changes of some kinds, or after all changes if `kinds` is null.
   * @param {Kind[] | null} kinds
   * @param {(kind: Kind) => void} listener
   */
  on(kinds, listener) {
    this.listeners.push([kinds && new Set(kinds), listener]);
  }

  /**
   * Tells the listeners that something has changed.
   * @param {Kind} kind
   */
  changed(kind) {
    for (const [kinds, listener] of this.listeners) {
      if (!kinds || kinds.has(kind)) listener(kind);
    }
  }
}
