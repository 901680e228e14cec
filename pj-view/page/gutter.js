// The names at the left. A click folds a container, and dragging moves it.
import { GUTTER } from "./draw.js";
import { lineAt } from "./hit.js";

export function toggleFold(app, id) {
  const { folded } = app.state;
  if (!folded.delete(id)) folded.add(id);
  app.relayout();
}

function ancestors(model, id) {
  const found = [];
  for (let at = id; at !== undefined && at !== 0; at = model.containers.get(at)?.parent) found.push(at);
  return found;
}

// Moves a container to the position of a sibling. `onto` is this sibling or one of its descendants.
export function reorder(app, moved, onto) {
  const { model, state } = app;
  const parent = model.containers.get(moved)?.parent;
  const target = ancestors(model, onto).find((id) => model.containers.get(id).parent === parent);
  if (target === undefined || target === moved) return;
  const list = [...(state.order.get(parent) || model.containers.get(parent).children)];
  const [from, to] = [list.indexOf(moved), list.indexOf(target)];
  list.splice(from, 1);
  list.splice(to, 0, moved);
  state.order.set(parent, list);
  app.relayout();
}

// Returns the first line of each container. The following lines show the container's other lanes.
const heads = (app) => app.layout.lines.filter((line) => !line.minor);

function announce(app, id) {
  const line = heads(app).find((it) => it.container === id);
  if (!line) return;
  app.scrollTo(line.top);
  const { children } = app.model.containers.get(id);
  const fold = line.folds ? (line.folded ? ", folded" : ", unfolded") : "";
  app.say(`${line.label}${fold}${children.length > 0 ? `, ${children.length} in it` : ""}`);
}

// Moves the cursor to the next or previous container.
export function moveCursor(app, by) {
  const { state, viewport } = app;
  const lines = heads(app);
  const here = lines.findIndex((line) => line.container === state.cursor);
  const seen = lines.findIndex((line) => line.top + line.height > viewport.scroll);
  const next = here < 0 ? seen : Math.max(0, Math.min(lines.length - 1, here + by));
  if (!lines[next]) return;
  state.cursor = lines[next].container;
  announce(app, state.cursor);
}

// Folds or unfolds the container at the cursor. With `alike`, also all other containers of its type.
export function foldCursor(app, alike) {
  const { state, model } = app;
  const it = model.containers.get(state.cursor);
  if (!it) return;
  const isFolded = state.folded.has(it.id);
  const those = alike ? [...model.containers.values()].filter((other) => other.type === it.type) : [it];
  for (const { id } of those) isFolded ? state.folded.delete(id) : state.folded.add(id);
  app.relayout();
  announce(app, it.id);
}

// Moves the container at the cursor up or down among its siblings.
export function shiftCursor(app, by) {
  const { state, model } = app;
  const parent = model.containers.get(state.cursor)?.parent;
  if (parent === undefined || state.cursor === 0) return;
  const list = state.order.get(parent) || model.containers.get(parent).children;
  const other = list[list.indexOf(state.cursor) + by];
  if (other !== undefined) reorder(app, state.cursor, other);
  announce(app, state.cursor);
}

export function listenGutter(app, stage) {
  let pressed = null;
  const release = () => {
    [pressed, app.state.dragged] = [null, null];
    app.redraw();
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.offsetX >= GUTTER || event.button !== 0) return;
    const line = lineAt(app, event.offsetY);
    if (!line) return;
    pressed = { line, y: event.offsetY, moved: false };
    // Without this, the page would not notice if the pointer is released outside the stage.
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!pressed) return;
    if (Math.abs(event.offsetY - pressed.y) > 5) {
      pressed.moved = true;
      app.state.dragged = pressed.line.container;
      app.redraw();
    }
  });
  stage.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    const { line, moved } = pressed;
    release();
    const { width, height } = stage.getBoundingClientRect();
    if (event.offsetX < 0 || event.offsetX >= width || event.offsetY < 0 || event.offsetY >= height) return;
    if (!moved) {
      app.state.cursor = line.container;
      if (line.folds) toggleFold(app, line.container);
      return;
    }
    const onto = lineAt(app, event.offsetY);
    if (onto) reorder(app, line.container, onto.container);
  });
  stage.addEventListener("lostpointercapture", () => pressed && release());
}
