// Keeps the state of the view in the address, so that it can be saved and shared.

export function writeAddress(app) {
  const { state, viewport } = app;
  const values = new URLSearchParams();
  values.set("t", `${viewport.from},${viewport.to}`);
  if (viewport.scroll > 0) values.set("y", String(Math.round(viewport.scroll)));
  if (state.selected) values.set("sel", `${state.selected.lane},${state.selected.row}`);
  if (state.range) values.set("range", state.range.join(","));
  if (state.folded.size > 0) values.set("folded", [...state.folded].join(","));
  if (state.hiddenTypes.size > 0) values.set("hidden", [...state.hiddenTypes].join(","));
  if (state.search) values.set("search", `${state.search.type},${state.search.value}`);
  if (state.filter) values.set("filter", state.filter);
  if (!state.showLinks) values.set("links", "0");
  values.set("theme", state.dark ? "dark" : "light");
  const order = [...state.order].map(([parent, list]) => `${parent}:${list.join(".")}`).join(",");
  if (order && order.length < 4000) values.set("order", order);
  const text = `#${values.toString().replaceAll("%2C", ",")}`;
  if (text !== location.hash) history.replaceState(null, "", text);
}

const numbers = (text) => (text ? text.split(",").map(Number) : []);

export function readAddress(app) {
  const { state, viewport, model } = app;
  const values = new URLSearchParams(location.hash.slice(1));
  const [from, to] = numbers(values.get("t"));
  if (from < to) viewport.show(from, to);
  viewport.scroll = Number(values.get("y")) || 0;
  const range = numbers(values.get("range"));
  if (range[0] < range[1]) state.range = range;
  state.folded = new Set(numbers(values.get("folded")).filter((id) => model.containers.has(id)));
  state.hiddenTypes = new Set(numbers(values.get("hidden")).filter((id) => model.types[id]));
  state.filter = values.get("filter") || "";
  state.showLinks = values.get("links") !== "0";
  const theme = values.get("theme");
  state.dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const [type, value] = numbers(values.get("search"));
  if (Number.isInteger(value) && value >= 0 && value < model.types[type]?.values.length) state.search = { type, value };
  for (const part of (values.get("order") || "").split(",")) {
    const [parent, list] = part.split(":");
    const children = model.containers.get(Number(parent))?.children;
    const wanted = (list || "").split(".").map(Number);
    if (children && wanted.length === children.length && wanted.every((id) => children.includes(id))) state.order.set(Number(parent), wanted);
  }
  const [lane, row] = numbers(values.get("sel"));
  return model.lanes.has(lane) ? { lane, row } : null;
}
