// Names at the left: folded with a click, dragged into another order.
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

// Puts a container before the sibling of it that is, or holds, another one.
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

export function listenGutter(app, stage) {
  let pressed = null;
  stage.addEventListener("pointerdown", (event) => {
    if (event.offsetX >= GUTTER || event.button !== 0) return;
    const line = lineAt(app, event.offsetY);
    if (line) pressed = { line, y: event.offsetY, moved: false };
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
    pressed = null;
    app.state.dragged = null;
    if (!moved) {
      if (line.folds) toggleFold(app, line.container);
      return;
    }
    const onto = lineAt(app, event.offsetY);
    if (onto) reorder(app, line.container, onto.container);
    app.redraw();
  });
}
