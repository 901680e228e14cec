// Panel of colours, and selection of types.
import { button, el, quiet, swatch } from "./dom.js";
/** @import { Page, Type } from "./types" */

/** Maximum number of values in the legend. Users can search for the others. */
const MOST_VALUES = 40;

/** @param {Page} page */
export function addLegend(page) {
  page.panels.add({ id: "legend", title: "Legend", after: ["search", "layout"], update: () => contents(page) });
}

/** @param {Page} page */
function contents(page) {
  const { state } = page;
  return page.data.model.types.filter((type) => type.used).map((type) => {
    const box = el("input", { type: "checkbox", checked: !state.hiddenTypes.has(type.id) });
    box.addEventListener("change", () => {
      if (!state.hiddenTypes.delete(type.id)) state.hiddenTypes.add(type.id);
      state.changed("layout");
    });
    const label = el("label", {}, box, type.nature === "variable" ? swatch(type.color) : null, `${type.name} (${type.nature})`);
    return el("ul", {}, el("li", {}, label), ...values(page, type));
  });
}

/**
 * @param {Page} page
 * @param {Type} type
 */
function values({ state, navigator }, type) {
  if (type.nature === "variable") return [];
  const more = type.values.length - MOST_VALUES;
  const first = type.values.slice(0, MOST_VALUES).map((value, id) => {
    const isOn = state.search?.type === type.id && state.search.value === id;
    const search = () => navigator.search(isOn ? null : { type: type.id, value: id });
    const made = button("", "Search it; N and Shift N step", search, swatch(value.color), value.name);
    made.setAttribute("aria-pressed", String(isOn));
    return el("li", { className: isOn ? "on" : "" }, made);
  });
  return more > 0 ? [...first, el("li", {}, quiet(`and ${more} more`))] : first;
}
