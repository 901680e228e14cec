// Values by name, and the way from place to place.
import { el } from "./panel.js";

// The first value whose name is the text, or begins with it, or has it.
export function findValue(model, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const all = model.types.flatMap((type) => (type.used ? type.values.map((value, id) => ({ type: type.id, value: id, name: value.name.toLowerCase() })) : []));
  const found = all.find((it) => it.name === wanted) || all.find((it) => it.name.startsWith(wanted)) || all.find((it) => it.name.includes(wanted));
  return found ? { type: found.type, value: found.value } : null;
}

export function offerValues(model) {
  const names = new Set(model.types.flatMap((type) => (type.used ? type.values.map((value) => value.name) : [])));
  document.getElementById("values").replaceChildren(...[...names].slice(0, 2000).map((name) => el("option", { value: name })));
}

export async function stepTo(app, back) {
  const { state, viewport, model } = app;
  if (!state.search) return;
  const here = state.place || { start: viewport.from, lane: back ? 4294967295 : 0, row: 0 };
  const found = await app.source.find(state.search.type, state.search.value, { time: here.start, lane: here.lane, row: here.row }, back);
  if (!found) return;
  state.place = found;
  app.reveal(found);
  await app.select({ ...found, value: state.search.value });
  const value = model.types[state.search.type].values[state.search.value];
  app.say(`${value.name} at ${found.start} s`);
}
