// Overlays: pictures over the timeline that readers switch on and off.
//
// A module adds an overlay when the page starts:
//
//     page.overlays.add({
//       id: "waits",             // also its name in the address: #on=waits
//       title: "Waits",          // text of its button
//       async load() { … },      // called before the overlay is first shown; an error is shown, and switches it off
//       draw(frame) { … },       // draws to frame.context, which is clipped to the plot; see Frame in types.d.ts
//       hit(x, y, frame) { … },  // what is at a position, for the tip and for clicks, or null
//     });
//
// Overlays that are off cost nothing: neither `load` nor `draw` is called. `draw` must be fast, since it is called for
// each frame: it requests what is missing, and calls `page.scene.redraw()` when that arrives. `hit` takes a position in
// the plot in CSS pixels, and returns `{ text: ["line", …], act() { … } }`: lines for the tip, and what a click does.
// Without `act`, a click selects the row below, as usual.
import { byId, el } from "./dom.js";
/** @import { Frame } from "./types" */
/** @import { State } from "./state.js" */
/** @import { Live } from "./live.js" */

/** @typedef {{ text: string[], act?: () => void }} Hit */
/**
 * @typedef {object} Overlay
 * @property {string} id
 * @property {string} title
 * @property {() => Promise<void>} [load]
 * @property {(frame: Frame) => void} draw
 * @property {(x: number, y: number, frame: Frame) => Hit | null} [hit]
 * @property {() => boolean} [idle] Whether nothing is being fetched, for tests.
 */
/** @typedef {{ overlay: Overlay, button: HTMLElement, loading: Promise<void> | null, isLoaded: boolean }} Entry */

export class Overlays {
  /**
   * @param {State} state
   * @param {Live} live
   */
  constructor(state, live) {
    this.state = state;
    this.live = live;
    /** @type {Map<string, Entry>} */
    this.all = new Map();
    state.on(["look"], () => this.update());
  }

  /** @param {Overlay} overlay */
  add(overlay) {
    const button = el("button", { type: "button", id: `overlay-${overlay.id}`, "aria-pressed": "false" }, overlay.title);
    button.addEventListener("click", () => this.toggle(overlay.id));
    byId("overlays").append(button);
    this.all.set(overlay.id, { overlay, button, loading: null, isLoaded: !overlay.load });
    this.update();
  }

  /** @param {string} id */
  toggle(id, shown = !this.state.overlays.has(id)) {
    if (shown) this.state.overlays.add(id);
    else this.state.overlays.delete(id);
    this.state.changed("look");
  }

  update() {
    for (const [id, entry] of this.all) {
      const isOn = this.state.overlays.has(id);
      entry.button.setAttribute("aria-pressed", String(isOn));
      if (isOn && !entry.isLoaded) entry.loading ||= this.load(entry);
    }
  }

  /** @param {Entry} entry */
  async load(entry) {
    const { overlay } = entry;
    try {
      await overlay.load?.();
      entry.isLoaded = true;
    } catch (error) {
      this.live.say(`${overlay.title}: ${/** @type {Error} */ (error).message}`);
      this.state.overlays.delete(overlay.id);
    }
    entry.loading = null;
    this.state.changed("look");
  }

  /** Returns the overlays that are on, and have what they need. */
  shown() {
    return [...this.all.values()].filter((it) => it.isLoaded && this.state.overlays.has(it.overlay.id)).map((it) => it.overlay);
  }

  /** @param {Frame} frame */
  draw(frame) {
    for (const overlay of this.shown()) {
      frame.context.save();
      overlay.draw(frame);
      frame.context.restore();
    }
  }

  /**
   * Returns what the topmost overlay shows at a position of the plot.
   * @param {number} x
   * @param {number} y
   * @param {Frame | null} frame
   */
  hit(x, y, frame) {
    if (!frame) return null;
    for (const overlay of this.shown().reverse()) {
      const hit = overlay.hit?.(x, y, frame);
      if (hit) return hit;
    }
    return null;
  }

  idle() {
    return [...this.all.values()].every((it) => !it.loading && it.overlay.idle?.() !== false);
  }
}
