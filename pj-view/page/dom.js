// Creates and finds elements. Strings become text, never markup.

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** @param {string} id */
export const inputById = (id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * Creates an element. Properties become properties of the element if it has them, and else attributes. `color` is the
 * background.
 * @param {string} tag
 * @param {Record<string, any>} properties
 * @param {(Node | string | null | undefined)[]} children
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "color") node.style.background = value;
    else if (name in node) /** @type {any} */ (node)[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(.../** @type {(Node | string)[]} */ (children.filter((child) => child !== null && child !== undefined)));
  return node;
}

/**
 * Creates a button that calls `action`.
 * @param {string} className
 * @param {string} title
 * @param {() => void} action
 * @param {(Node | string | null)[]} children
 */
export function button(className, title, action, ...children) {
  const node = el("button", { type: "button", className, title }, ...children);
  node.addEventListener("click", action);
  return node;
}

/** @param {string} color */
export const swatch = (color) => el("span", { className: "swatch", color, "aria-hidden": "true" });

/** @param {string} text */
export const quiet = (text) => el("p", { className: "quiet" }, text);

/**
 * Creates a table. Columns are titles, or pairs of a title and a class for its cells (`number` aligns to the right).
 * @param {string | null} caption
 * @param {(string | [string, string])[]} columns
 * @param {(Node | string | null)[][]} rows
 */
export function table(caption, columns, rows) {
  const of = columns.map((column) => (typeof column === "string" ? { title: column, className: "" } : { title: column[0], className: column[1] }));
  const head = el("tr", {}, ...of.map(({ title, className }) => el("th", { scope: "col", className }, title)));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell, i) => el("td", { className: of[i].className }, cell))));
  return el("table", {}, caption === null ? null : el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...body));
}

/**
 * Creates a table of names and their values. Rows without a value are left out.
 * @param {[string, (Node | string | null | undefined)][]} list
 */
export function pairs(list, className = "") {
  const rows = list.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("table", {}, el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { className }, value)))));
}
