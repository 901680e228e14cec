// Handles pointer, wheel and keys.
import { formatTime, pathOf, valueOf } from "./model.js";
import { AXIS, GUTTER, axisLabel } from "./draw.js";
import { lineAt, rowAt, seenAt } from "./hit.js";
import { foldCursor, moveCursor, shiftCursor } from "./gutter.js";
import { stepTo } from "./search.js";

export const KEYS = [
  ["W, S, wheel with Ctrl or on the axis", "zoom at the pointer"],
  ["A, D, ←, →, drag", "move in time"],
  ["↑, ↓, wheel", "move through containers"],
  ["0", "show all"],
  ["F", "fit the selected row, or the selected range"],
  ["Click", "select; on a name, fold or unfold"],
  ["Drag a name", "move it among its siblings"],
  ["J, K", "next or previous container, for the following keys"],
  ["Enter, Shift Enter", "fold or unfold it, or all of its type"],
  ["Shift J, Shift K", "move it down or up"],
  ["Shift and drag", "select a range of time"],
  ["/", "search a value; N and Shift N step through its rows"],
  ["L, T, Esc", "links, light or dark, clear the selection"],
];

export function listenInput(app, stage) {
  let [drag, x, y] = [null, app.viewport.width / 2, 0];
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.offsetX < GUTTER) return;
    stage.focus();
    stage.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, y: event.offsetY, moved: false, range: event.shiftKey || event.offsetY < AXIS, begin: app.viewport.time(event.offsetX - GUTTER) };
  });
  stage.addEventListener("pointermove", (event) => {
    [x, y] = [event.offsetX - GUTTER, event.offsetY];
    hair(app, x);
    if (!drag) return tip(app, event.offsetX, y);
    const [dx, dy] = [event.offsetX - drag.x, y - drag.y];
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (!drag.moved) return;
    if (drag.range) {
      const ends = [drag.begin, app.viewport.time(x)];
      app.state.range = [Math.min(...ends), Math.max(...ends)];
    } else {
      app.viewport.pan(-dx);
      app.viewport.scroll -= dy;
      [drag.x, drag.y] = [event.offsetX, y];
    }
    app.moved();
  });
  stage.addEventListener("pointerup", async (event) => {
    const was = drag;
    drag = null;
    if (!was || was.moved) return;
    if (was.range) app.state.range = null;
    const row = await rowAt(app, event.offsetX, event.offsetY);
    await app.select(row);
  });
  stage.addEventListener("pointercancel", () => (drag = null));
  stage.addEventListener("pointerleave", () => {
    for (const id of ["tip", "hair"]) document.getElementById(id).hidden = true;
  });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 20 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) app.viewport.pan(event.deltaX * lines);
    else if (event.shiftKey) app.viewport.scroll += event.deltaY * lines;
    else if (event.offsetX < GUTTER) app.viewport.scroll += event.deltaY * lines;
    else app.viewport.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.002), event.offsetX - GUTTER);
    app.moved();
  }, { passive: false });
  document.addEventListener("keydown", (event) => keyDown(app, event, Math.max(0, Math.min(x, app.viewport.width))));
}

function keyDown(app, event, x) {
  const isText = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey || (isText && event.key !== "Escape")) return;
  const { viewport, state } = app;
  const actions = {
    w: () => viewport.zoom(0.8, x),
    s: () => viewport.zoom(1.25, x),
    "+": () => viewport.zoom(0.8, viewport.width / 2),
    "-": () => viewport.zoom(1.25, viewport.width / 2),
    a: () => viewport.pan(-viewport.width * 0.1),
    d: () => viewport.pan(viewport.width * 0.1),
    arrowleft: () => viewport.pan(-viewport.width * 0.1),
    arrowright: () => viewport.pan(viewport.width * 0.1),
    arrowup: () => (viewport.scroll -= 40),
    arrowdown: () => (viewport.scroll += 40),
    pageup: () => (viewport.scroll -= viewport.height * 0.9),
    pagedown: () => (viewport.scroll += viewport.height * 0.9),
    0: () => app.fit(),
    f: () => app.fitSelected(),
    n: () => stepTo(app, event.shiftKey),
    j: () => (event.shiftKey ? shiftCursor(app, 1) : moveCursor(app, 1)),
    k: () => (event.shiftKey ? shiftCursor(app, -1) : moveCursor(app, -1)),
    enter: () => foldCursor(app, event.shiftKey),
    l: () => app.toggleLinks(),
    t: () => app.toggleTheme(),
    "/": () => document.getElementById("search").focus(),
    "?": () => document.getElementById("keys").showModal(),
    escape: () => app.clear(),
  };
  const action = actions[event.key.toLowerCase()];
  const target = event.target instanceof HTMLElement ? event.target : null;
  const isControl = target?.closest("button, input, a, summary") && event.key === "Enter";
  const keepsDefault = isControl || (target?.closest("aside, dialog") && event.key.startsWith("Arrow"));
  if (!action || keepsDefault || document.getElementById("keys").open) return;
  event.preventDefault();
  action();
  if (state) app.moved();
}

// Marks the time at the pointer on the axis.
function hair(app, x) {
  const { viewport } = app;
  const node = document.getElementById("hair");
  node.hidden = x < 0 || x > viewport.width;
  if (node.hidden) return;
  node.style.transform = `translateX(${x + GUTTER}px)`;
  const largest = Math.max(Math.abs(viewport.from), Math.abs(viewport.to));
  node.firstElementChild.textContent = axisLabel(viewport.time(x), viewport.secondsPerPixel, largest);
}

function tip(app, x, y) {
  const node = document.getElementById("tip");
  const lines = x < GUTTER ? nameText(app, y) : tipText(app, seenAt(app, x, y));
  node.hidden = !lines;
  if (!lines) return;
  node.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
  const left = Math.min(x + 14, app.viewport.width + GUTTER - node.offsetWidth - 6);
  node.style.left = `${left}px`;
  node.style.top = `${Math.min(y + 18, app.viewport.height + AXIS - node.offsetHeight - 4)}px`;
}

// Returns the full name and the path of a line's container or lane.
function nameText(app, y) {
  const line = lineAt(app, y);
  if (!line) return null;
  const path = pathOf(app.model, line.container);
  return line.label === path ? [path] : [line.label, path];
}

function tipText(app, seen) {
  if (!seen) return null;
  const { model } = app;
  const { line, row, parts, starts, range, time } = seen;
  const { type, nature } = line.lane || { nature: "folded" };
  const name = (value, of = type) => valueOf(app, of, value).name;
  const around = app.viewport.span;
  if (row && nature === "variable") return [`${model.types[type].name}: ${row.height}`, `${formatTime(row.start, around)}, for ${formatTime(row.end - row.start)}`];
  if (row) return [name(row.value), nature === "event" ? formatTime(row.start, around) : `${formatTime(row.end - row.start)} from ${formatTime(row.start, around)}`];
  if (parts?.length > 0) {
    const share = (amount) => (nature === "event" ? `${amount}` : `${(amount * 100).toFixed(0)} %`);
    return [...parts.slice(0, 5).map(([value, amount, of]) => `${share(amount)}  ${name(value, of)}`), `${starts} begin here, at ${formatTime(time, around)}`];
  }
  if (range && range[0] <= range[2]) return [`${model.types[type].name}: ${range.map((it) => Number(it.toPrecision(6))).join(" … ")}`];
  return null;
}
