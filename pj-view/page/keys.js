// Keys. They only act while the timeline has the focus, so that they take none from assistive technology or from the
// browser.
import { foldCursor, moveCursor, selectedContainer, shiftCursor, togglePin } from "./containers.js";
import { byId, el } from "./dom.js";
import { addMark } from "./marks.js";
/** @import { Page } from "./types" */
/** @import { Hits } from "./hits.js" */
/** @import { Pointer } from "./pointer.js" */

/** @type {[string, string][]} */
const KEYS = [
  ["W, S, wheel", "zoom at the pointer"],
  ["A, D, ←, →, drag", "move in time"],
  ["↑, ↓, Shift and wheel", "scroll through containers"],
  ["0", "show all"],
  ["F", "fit the selected row, or the selected range"],
  ["Click", "select; on a name, fold or unfold"],
  ["Drag a name", "move it among its siblings"],
  ["J, K", "next or previous container or lane, for the following keys"],
  [". and ,", "next or previous row of it"],
  ["Enter, Shift Enter", "fold or unfold it, or all of its type"],
  ["Shift J, Shift K", "move it down or up"],
  ["P", "pin it to the top, or unpin it"],
  ["Shift and drag, drag the axis", "select a range of time"],
  ["/", "search; N and Shift N step through the hits"],
  ["M", "mark the selected row, or the time at the pointer"],
  ["L, T, Esc", "links, light or dark, clear the selection"],
];

/**
 * @param {Page} page
 * @param {Pointer} pointer
 * @param {Hits} hits
 * @param {{ theme(): void, links(): void }} toggles
 */
export function listenKeys(page, pointer, hits, toggles) {
  const { viewport, state, navigator } = page;
  /** @param {number} pixels */
  const scroll = (pixels) => {
    viewport.scroll += pixels;
    state.changed("window");
  };
  /** @param {number} part */
  const pan = (part) => {
    viewport.pan(viewport.width * part);
    state.changed("window");
  };
  /**
   * @param {number} factor
   * @param {number} x
   */
  const zoom = (factor, x) => {
    viewport.zoom(factor, x);
    state.changed("window");
  };
  /** @type {Record<string, (isShift: boolean) => void>} */
  const actions = {
    w: () => zoom(0.8, pointer.x),
    s: () => zoom(1.25, pointer.x),
    "+": () => zoom(0.8, viewport.width / 2),
    "-": () => zoom(1.25, viewport.width / 2),
    a: () => pan(-0.1),
    d: () => pan(0.1),
    arrowleft: () => pan(-0.1),
    arrowright: () => pan(0.1),
    arrowup: () => scroll(-40),
    arrowdown: () => scroll(40),
    pageup: () => scroll(-viewport.height * 0.9),
    pagedown: () => scroll(viewport.height * 0.9),
    0: () => navigator.fit(),
    f: () => navigator.fitSelected(),
    n: (isShift) => hits.step(isShift),
    m: () => addMark(page, state.selected ? undefined : viewport.time(pointer.x)),
    j: (isShift) => (isShift ? shiftCursor(page, 1) : moveCursor(page, 1)),
    k: (isShift) => (isShift ? shiftCursor(page, -1) : moveCursor(page, -1)),
    ".": () => navigator.stepRow(1),
    ",": () => navigator.stepRow(-1),
    p: () => togglePin(page, state.cursor ?? selectedContainer(page)),
    enter: (isShift) => foldCursor(page, isShift),
    l: () => toggles.links(),
    t: () => toggles.theme(),
    "/": () => byId("search").focus(),
    "?": showKeys,
    escape: () => navigator.clear(),
  };
  byId("stage").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
  });
  byId("keylist").append(...KEYS.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]));
}

export function showKeys() {
  /** @type {HTMLDialogElement} */ (byId("keys")).showModal();
}
