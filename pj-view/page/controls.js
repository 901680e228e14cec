// The page's head: fields and buttons.
import { byId, inputById } from "./dom.js";
import { showKeys } from "./keys.js";
/** @import { Page } from "./types" */

/** @param {Page} page */
export function toggleLinks({ state }) {
  state.showLinks = !state.showLinks;
  state.changed("look");
}

/** @param {Page} page */
export function toggleTheme({ state }) {
  state.dark = !state.dark;
  state.changed("look");
}

/** @param {Page} page */
export function listenControls(page) {
  const { data, state, navigator, scene } = page;
  /** @type {(id: string, event: string, action: (event: Event) => void) => void} */
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  on("fit", "click", () => navigator.fit());
  on("links", "click", () => toggleLinks(page));
  on("theme", "click", () => toggleTheme(page));
  on("help", "click", showKeys);
  on("filter", "input", () => {
    state.filter = inputById("filter").value;
    state.changed("layout");
  });
  on("goto", "change", () => {
    const time = Number.parseFloat(inputById("goto").value) * data.model.units.second;
    if (Number.isFinite(time)) navigator.goTo(time);
  });
  state.on(null, () => showControls(page));
  showControls(page);
  new ResizeObserver(() => scene.relayout()).observe(byId("stage"));
}

/**
 * Shows the state in fields and buttons.
 * @param {Page} page
 */
async function showControls({ data, state, scene }) {
  byId("links").setAttribute("aria-pressed", String(state.showLinks));
  byId("theme").textContent = state.dark ? "Light" : "Dark";
  if (document.documentElement.classList.toggle("dark", state.dark) !== scene.isDark) scene.restyle(state.dark);
  if (document.activeElement !== byId("filter")) inputById("filter").value = state.filter;
  if (document.activeElement === byId("search")) return;
  const { search } = state;
  const value = search && (data.model.types[search.type].values[search.value] || (await data.names.known(search.type, search.value)));
  if (state.search !== search) return;
  inputById("search").value = value?.name || state.query?.text || "";
  if (state.query) inputById("within").value = state.query.within;
}
