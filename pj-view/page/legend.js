// Panel of colours, and selection of types.
import { button, el, quiet, swatch } from "./dom.js";
import { loadClasses } from "./classes.js";
import { classColor } from "./paints.js";
import { cssColor, DECADES, durationColor, textColor } from "./ramp.js";
/** @import { Fields } from "./fields.js" */
/** @import { Page, Type } from "./types" */

/** Maximum number of values in the legend. Users can search for the others. */
const MOST_VALUES = 40;

/**
 * @param {Page} page
 * @param {Fields} fields
 */
export function addLegend(page, fields) {
  page.panels.add({ id: "legend", title: "Legend", after: ["search", "layout", "color"], update: () => contents(page, fields) });
  const choose = async () => {
    const { color } = page.state;
    fields.choose(color.by === "field" ? color.name : "");
    if (color.by !== "class") return;
    await loadClasses(page.data, page.scene.paints);
    page.scene.redraw();
    page.panels.update("legend");
  };
  page.state.on(["color"], choose);
  choose();
}

/**
 * Returns the choice of colours, and their scale.
 * @param {Page} page
 * @param {Fields} fields
 */
function scale({ data, state }, fields) {
  const { model } = data;
  const { color } = state;
  const ways = [["value", "Value"], ["class", "Class of value"], ["duration", "Duration"]];
  if (color.by === "field") ways.push(["field", `Field ${color.name}`]);
  const options = ways.map(([value, title]) => el("option", { value, selected: value === color.by }, title));
  const select = /** @type {HTMLSelectElement} */ (el("select", { id: "color" }, ...options));
  select.addEventListener("change", () => {
    if (select.value !== "field") state.color = { by: /** @type {"value"} */ (select.value) };
    state.changed("color");
  });
  /** @type {(color: string, text: string) => Node} */
  const entry = (shown, text) => el("li", {}, el("span", {}, swatch(shown), text));
  /** @type {Node[]} */
  let list = [];
  if (color.by === "duration") {
    const all = model.extent[1] - model.extent[0];
    list = Array.from({ length: DECADES + 1 }, (_, i) => 10 ** -i).map((part) => entry(cssColor(durationColor(part)), `${model.units.format(Number((part * all).toPrecision(2)))}`));
  } else if (color.by === "field") {
    list = [...fields.texts].sort().map((text) => entry(cssColor(textColor(text)), text));
    if (list.length === 0) list = [quiet(data.source.embedded ? "Fields are not in this file." : "No row on the screen has it, or there are too many rows: zoom in.")];
  } else if (color.by === "class") {
    const names = new Set(model.types.flatMap((type) => (type.used && type.classes) || []));
    list = [...names].sort().map((name) => entry(cssColor(classColor(name)), name));
    if (list.length === 0) list = [quiet("The values of this trace have no classes.")];
  }
  return el("div", { className: "scale" }, el("label", {}, "Colour by ", select), el("ul", {}, ...list));
}

/**
 * @param {Page} page
 * @param {Fields} fields
 */
function contents(page, fields) {
  const { state } = page;
  return [scale(page, fields), ...page.data.model.types.filter((type) => type.used).map((type) => {
    const box = el("input", { type: "checkbox", checked: !state.hiddenTypes.has(type.id) });
    box.addEventListener("change", () => {
      if (!state.hiddenTypes.delete(type.id)) state.hiddenTypes.add(type.id);
      state.changed("layout");
    });
    const label = el("label", {}, box, type.nature === "variable" ? swatch(type.color) : null, `${type.name} (${type.nature})`);
    return el("ul", {}, el("li", {}, label), ...values(page, type));
  })];
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
    const made = button("", "Search it; N and Shift N step", search, state.color.by === "value" ? swatch(value.color) : null, value.name);
    made.setAttribute("aria-pressed", String(isOn));
    return el("li", { className: isOn ? "on" : "" }, made);
  });
  return more > 0 ? [...first, el("li", {}, quiet(`and ${more} more`))] : first;
}
