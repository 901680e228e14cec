// Markers: times that the reader has marked. They are in the address, and have a panel with the times between them.
import { button, el, quiet, table } from "./dom.js";
import { AXIS } from "./viewport.js";
/** @import { Frame, Page } from "./types" */
/** @import { State } from "./state.js" */

/** @typedef {{ time: number, name: string }} Mark */

/**
 * Returns a name that no marker has: A to Z, then A1 to Z1, and so on.
 * @param {Mark[]} marks
 */
export function freeName(marks) {
  for (let i = 0; ; i++) {
    const name = `${String.fromCharCode(65 + (i % 26))}${i < 26 ? "" : Math.floor(i / 26)}`;
    if (marks.every((mark) => mark.name !== name)) return name;
  }
}

/**
 * Marks a time, or the start of the selected row.
 * @param {Page} page
 * @param {number} time
 */
export function addMark({ state, live, data, viewport }, time = state.selected?.start ?? (viewport.from + viewport.to) / 2) {
  const name = freeName(state.marks);
  state.marks = [...state.marks, { time, name }].sort((a, b) => a.time - b.time);
  state.changed("marks");
  live.say(`Marker ${name} at ${data.model.units.format(time, viewport.span)}`);
}

/** @param {Page} page */
export function addMarks(page) {
  page.panels.add({ id: "marks", title: "Markers", after: ["marks"], update: () => contents(page) });
}

/** @param {Page} page */
function contents(page) {
  const { state, navigator, data } = page;
  const { units } = data.model;
  if (state.marks.length === 0) return [];
  const rows = state.marks.map((mark, i) => {
    const before = state.marks[i - 1];
    const name = /** @type {HTMLInputElement} */ (el("input", { value: mark.name, "aria-label": `Name of marker ${mark.name}`, maxLength: 40 }));
    name.addEventListener("change", () => {
      mark.name = name.value.trim() || freeName(state.marks);
      state.changed("marks");
    });
    const go = button("go", `Go to marker ${mark.name}`, () => navigator.goTo(mark.time), units.format(mark.time, page.viewport.extent[1]));
    const remove = button("go", `Remove marker ${mark.name}`, () => {
      state.marks = state.marks.filter((it) => it !== mark);
      state.changed("marks");
    }, "×");
    remove.setAttribute("aria-label", `Remove marker ${mark.name}`);
    return [name, go, before ? `+${units.format(mark.time - before.time)}` : "", remove];
  });
  return [table(null, ["Name", "At", ["Since", "number"], ["", "tool"]], rows), quiet("M marks the selected row or the time at the pointer.")];
}

/**
 * Draws the markers over the plot and the axis.
 * @param {Frame} frame
 * @param {State} state
 */
export function drawMarks({ context, style, ratio, below, width, x }, { marks }) {
  context.font = `600 ${11 * ratio}px sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { time, name } of marks) {
    const at = Math.round(x(time));
    if (at < 0 || at > width) continue;
    context.fillStyle = style.accent;
    context.fillRect(at, 6 * ratio, Math.max(1, Math.round(1.5 * ratio)), below);
    const shown = name.length > 14 ? `${name.slice(0, 13)}…` : name;
    const wide = context.measureText(shown).width + 8 * ratio;
    const left = Math.min(at, width - wide);
    context.fillRect(left, 6 * ratio, wide, (AXIS - 18) * ratio);
    context.fillStyle = style.back;
    context.fillText(shown, left + 4 * ratio, (6 + (AXIS - 18) / 2) * ratio);
  }
}
