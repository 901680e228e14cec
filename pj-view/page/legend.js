// Legend of colours, and selection of types.
import { el, swatch } from "./panel.js";

// Maximum number of values in the legend. Users can search for the others.
const MOST_VALUES = 40;

export function showLegend(app) {
  const { model, state } = app;
  const children = [el("h2", {}, "Legend")];
  for (const type of model.types) {
    if (!type.used) continue;
    const box = el("input", { type: "checkbox", checked: !state.hiddenTypes.has(type.id) });
    box.addEventListener("change", () => app.toggleType(type.id));
    children.push(el("ul", {}, el("li", {}, el("label", {}, box, type.nature === "variable" ? swatch(type.color) : null, `${type.name} (${type.nature})`)), ...values(app, type)));
  }
  document.getElementById("legend").replaceChildren(...children);
}

function values(app, type) {
  if (type.nature === "variable") return [];
  const { state } = app;
  const more = type.values.length - MOST_VALUES;
  const rest = more > 0 ? [el("li", { className: "quiet" }, `and ${more} more`)] : [];
  const first = type.values.slice(0, MOST_VALUES).map((value, id) => {
    const isOn = state.search?.type === type.id && state.search.value === id;
    const button = el("button", { "aria-pressed": String(isOn), title: "Search it; N and Shift N step" }, swatch(value.color), value.name);
    button.style.background = "none";
    button.addEventListener("click", () => app.search(isOn ? null : { type: type.id, value: id }));
    return el("li", { className: isOn ? "on" : "" }, button);
  });
  return [...first, ...rest];
}
