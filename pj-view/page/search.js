// Searches values by name, and steps through their rows.
import { el } from "./panel.js";

export function offerValues(model) {
  const names = new Set(model.types.flatMap((type) => (type.used ? Object.values(type.values).map((value) => value.name) : [])));
  document.getElementById("values").replaceChildren(...[...names].slice(0, 2000).map((name) => el("option", { value: name })));
}

export async function stepTo(app, back) {
  const { state, viewport } = app;
  if (!state.search) return;
  const here = state.place || { start: viewport.from, lane: back ? 4294967295 : 0, row: 0 };
  const found = await app.source.find(state.search.type, state.search.value, { time: here.start, lane: here.lane, row: here.row }, back);
  if (!found) return;
  state.place = found;
  app.reveal(found);
  await app.select({ ...found, value: state.search.value });
  const value = await app.names.known(state.search.type, state.search.value);
  app.say(`${value?.name} at ${found.start} s`);
}
