// Panels: parts of the page beside the timeline.
//
// A module adds a panel when the page starts:
//
//     page.panels.add({
//       id: "matrix",                  // id of its section
//       title: "Communication",
//       open: false,                   // whether it is unfolded at first; true if left out
//       after: ["window"],             // changes after which it is updated (Kind in state.js); all of them if left out
//       async update(window, selection) { return [node, …]; },
//     });
//
// A panel without contents (`[]`) is hidden. `update` gets the visible or selected times, and the selected row or null. It returns the panel's contents, or null to
// leave them as they are, at once or as a promise. A panel that is folded is not updated, so it costs nothing. Updates
// wait until the window has been at rest for a quarter of a second; if a later update begins meanwhile, the result of
// the earlier one is dropped. An error is shown in the panel. `page.panels.update("matrix")` updates one at once.
// Text in panels is no live region: what must be announced goes to `page.live.say`.
import { byId, el, quiet } from "./dom.js";
/** @import { Details, Interval, Row } from "./types" */
/** @import { Kind, State } from "./state.js" */
/** @import { Viewport } from "./viewport.js" */

const REST = 250;

/** @typedef {(Node | string)[] | null} Content */
/**
 * @typedef {object} Panel
 * @property {string} id
 * @property {string} title
 * @property {boolean} [open]
 * @property {Kind[]} [after]
 * @property {(window: Interval, selection: Row | Details | null) => Content | Promise<Content>} update
 */
/** @typedef {{ panel: Panel, fold: HTMLDetailsElement, body: HTMLElement, run: number, isStale: boolean, busy: number }} Entry */

export class Panels {
  /**
   * @param {State} state
   * @param {Viewport} viewport
   */
  constructor(state, viewport) {
    this.state = state;
    this.viewport = viewport;
    /** @type {Map<string, Entry>} */
    this.all = new Map();
    /** @type {Set<Kind>} */
    this.changes = new Set();
    this.timer = 0;
    state.on(null, (kind) => this.later(kind));
  }

  /** @param {Panel} panel */
  add(panel) {
    const body = el("div", {});
    const fold = /** @type {HTMLDetailsElement} */ (el("details", { open: panel.open !== false }, el("summary", {}, el("h2", {}, panel.title)), body));
    byId("panels").append(el("section", { id: panel.id }, fold));
    /** @type {Entry} */
    const entry = { panel, fold, body, run: 0, isStale: true, busy: 0 };
    this.all.set(panel.id, entry);
    fold.addEventListener("toggle", () => entry.isStale && this.show(entry));
  }

  /** @param {Kind} kind */
  later(kind) {
    this.changes.add(kind);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const { changes } = this;
      this.changes = new Set();
      this.timer = 0;
      for (const entry of this.all.values()) {
        if (!entry.panel.after || entry.panel.after.some((it) => changes.has(it))) this.show(entry);
      }
    }, REST);
  }

  /** @param {string} id */
  update(id) {
    const entry = this.all.get(id);
    return entry ? this.show(entry) : undefined;
  }

  /**
   * Unfolds a panel.
   * @param {string} id
   */
  open(id) {
    const entry = this.all.get(id);
    if (entry) entry.fold.open = true;
  }

  /** @param {Entry} entry */
  async show(entry) {
    entry.isStale = !entry.fold.open;
    if (entry.isStale) return;
    const { panel, body } = entry;
    const run = (entry.run += 1);
    const { state, viewport } = this;
    entry.busy += 1;
    /** @type {Content} */
    let content;
    try {
      content = await panel.update(state.range || [viewport.from, viewport.to], state.selected);
    } catch (error) {
      content = [quiet(`${/** @type {Error} */ (error).message}`)];
    }
    entry.busy -= 1;
    if (!content || run !== entry.run) return;
    body.replaceChildren(...content);
    /** @type {HTMLElement} */ (entry.fold.parentElement).hidden = content.length === 0;
  }

  idle() {
    return this.timer === 0 && [...this.all.values()].every((it) => it.busy === 0);
  }
}
