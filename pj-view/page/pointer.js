// Pointer and wheel: moves, zooms, selects, folds and drags names. A gesture lasts from a press to its release; the stage
// captures the pointer meanwhile, so that a release outside ends it.
import { byId } from "./dom.js";
import { reorder, toggleFold } from "./containers.js";
import { lineAt, rowAt } from "./hit.js";
import { hideTip, showHair, showTip } from "./tip.js";
import { AXIS } from "./viewport.js";
/** @import { Line, Page } from "./types" */
/** @import { Address } from "./address.js" */

/** @typedef {{ x: number, y: number }} Point */
/**
 * `end` gets whether the pointer has moved since it was pressed.
 * @typedef {{ move(at: Point, from: Point): void, end(at: Point, moved: boolean): void, cancel?(): void }} Gesture
 */

/** Pixels by which a pointer may move in a click. */
const STILL = 4;

export class Pointer {
  /**
   * @param {Page} page
   * @param {Address} address
   */
  constructor(page, address) {
    this.page = page;
    this.address = address;
    this.stage = byId("stage");
    /** Pressed pointers. @type {Map<number, Point>} */
    this.pressed = new Map();
    /** @type {Gesture | null} */
    this.gesture = null;
    /** @type {Point} */
    this.start = { x: 0, y: 0 };
    this.moved = false;
    /** Position at which keys zoom, in the plot. */
    this.x = page.viewport.width / 2;
    /** @type {[string, (event: any) => void][]} */
    const listeners = [
      ["pointerdown", (event) => this.down(event)],
      ["pointermove", (event) => this.move(event)],
      ["pointerup", (event) => this.up(event)],
      ["lostpointercapture", (event) => this.lost(event)],
      ["pointerleave", hideTip],
    ];
    for (const [name, listener] of listeners) this.stage.addEventListener(name, listener);
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /**
   * Returns the position of an event in the stage.
   * @param {MouseEvent} event
   * @returns {Point}
   */
  at(event) {
    const { left, top } = this.stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    const at = this.at(event);
    this.stage.focus({ preventScroll: true });
    this.stage.setPointerCapture(event.pointerId);
    this.pressed.set(event.pointerId, at);
    this.gesture?.cancel?.();
    if (this.pressed.size > 1) this.gesture = this.pinch();
    else {
      this.start = at;
      this.moved = false;
      this.gesture = this.gestureFor(at, event);
    }
  }

  /**
   * @param {Point} at
   * @param {PointerEvent} event
   * @returns {Gesture | null}
   */
  gestureFor(at, event) {
    const { viewport } = this.page;
    if (at.x < viewport.gutter) {
      const line = lineAt(this.page, at.y);
      return line && this.name(line, event.pointerType === "touch");
    }
    return event.shiftKey || at.y < AXIS ? this.range(viewport.time(at.x - viewport.gutter)) : this.pan();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const at = this.at(event);
    this.x = Math.max(0, Math.min(at.x - this.page.viewport.gutter, this.page.viewport.width));
    showHair(this.page, at.x);
    const from = this.pressed.get(event.pointerId);
    if (!from || !this.gesture) {
      showTip(this.page, at.x, at.y);
      return;
    }
    if (Math.abs(at.x - this.start.x) + Math.abs(at.y - this.start.y) >= STILL) this.moved = true;
    this.pressed.set(event.pointerId, at);
    if (this.moved) this.gesture.move(at, from);
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (!this.pressed.delete(event.pointerId)) return;
    const { gesture } = this;
    this.gesture = null;
    gesture?.end(this.at(event), this.moved);
    // After a pinch, the remaining finger moves the picture.
    if (this.pressed.size > 0) this.gesture = this.pan();
  }

  /** @param {PointerEvent} event */
  lost(event) {
    if (!this.pressed.delete(event.pointerId)) return;
    this.gesture?.cancel?.();
    this.gesture = null;
  }

  /** @returns {Gesture} */
  pan() {
    const { page } = this;
    const { viewport, state } = page;
    return {
      move(at, from) {
        viewport.pan(from.x - at.x);
        viewport.scroll += from.y - at.y;
        state.changed("window");
      },
      end: (at, moved) => {
        if (!moved) this.click(at);
      },
    };
  }

  /**
   * Selects a range of time.
   * @param {number} begin
   * @returns {Gesture}
   */
  range(begin) {
    const { viewport, state } = this.page;
    this.address.leave();
    return {
      move(at) {
        const end = viewport.time(at.x - viewport.gutter);
        state.range = [Math.min(begin, end), Math.max(begin, end)];
        state.changed("window");
      },
      end: (at, moved) => {
        if (moved) return;
        state.range = null;
        state.changed("window");
        this.click(at);
      },
    };
  }

  /**
   * Zooms and moves with two fingers: the times below them stay there.
   * @returns {Gesture}
   */
  pinch() {
    const { viewport, state } = this.page;
    const [first, second] = [...this.pressed.keys()];
    const ends = () => [first, second].map((id) => this.pressed.get(id)?.x ?? 0).map((x) => x - viewport.gutter);
    const times = ends().map((x) => viewport.time(x));
    const least = 24;
    this.moved = true;
    return {
      move() {
        const [x0, x1] = ends();
        // Fingers one above the other only move the picture.
        if (Math.abs(x1 - x0) >= least && times[0] !== times[1]) {
          const each = (times[1] - times[0]) / (x1 - x0);
          if (each <= 0) return;
          const from = times[0] - x0 * each;
          viewport.show(from, from + viewport.width * each);
        } else viewport.pan(viewport.x((times[0] + times[1]) / 2) - (x0 + x1) / 2);
        state.changed("window");
      },
      end() {},
    };
  }

  /**
   * Folds a container, or moves it among its siblings. A finger scrolls instead of moving it.
   * @param {Line} line
   * @param {boolean} isTouch
   * @returns {Gesture}
   */
  name(line, isTouch) {
    const { page } = this;
    const { state, viewport } = page;
    const release = () => {
      state.dragged = null;
      state.changed("look");
    };
    return {
      move(at, from) {
        if (isTouch) {
          viewport.scroll += from.y - at.y;
          state.changed("window");
        } else {
          state.dragged = line.container;
          state.changed("look");
        }
      },
      end: (at, moved) => {
        const wasDragged = state.dragged !== null;
        release();
        const { width, height } = this.stage.getBoundingClientRect();
        if (at.x < 0 || at.x >= width || at.y < 0 || at.y >= height) return;
        if (!moved) {
          state.cursor = line.container;
          state.cursorLane = line.lane?.id ?? null;
          if (line.folds) toggleFold(page, line.container);
        } else if (wasDragged) {
          const onto = lineAt(page, at.y);
          if (onto) reorder(page, line.container, onto.container);
        }
      },
      cancel: release,
    };
  }

  /** @param {Point} at */
  async click(at) {
    const { page } = this;
    const { gutter } = page.viewport;
    const hit = page.overlays.hit(at.x - gutter, at.y, page.scene.frame);
    if (hit?.act) hit.act();
    else await page.navigator.select(await rowAt(page, at.x, at.y));
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { viewport, state } = this.page;
    const { x } = this.at(event);
    const lines = event.deltaMode === 1 ? 20 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) viewport.pan(event.deltaX * lines);
    else if (event.shiftKey || x < viewport.gutter) viewport.scroll += event.deltaY * lines;
    else viewport.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.002), x - viewport.gutter);
    state.changed("window");
  }
}
