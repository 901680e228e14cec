// Search for values, containers, keys and fields: the field in the head, and the panel with the list of hits.
import { button, byId, inputById, el, quiet, swatch, table } from "./dom.js";
import { laneOf, pathOf, valueOf } from "./model.js";
/** @import { Hit, HitsAnswer, Model, Page, Query, Within } from "./types" */

/** Number of hits that are fetched at once. */
const PAGE = 50;

/** Maximum number of values that the search field offers. */
const MOST_OFFERED = 2000;

/** @type {Record<Within, string>} */
const TITLES = { value: "Values", container: "Containers", key: "Keys", field: "Fields" };

export class Hits {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** Query whose hits have been fetched. @type {string | null} */
    this.asked = null;
    /** @type {Hit[]} */
    this.list = [];
    this.total = 0;
    /** Why nothing can be found. @type {string | null} */
    this.refused = null;
    this.at = -1;
    page.panels.add({ id: "hits", title: "Hits", after: ["search", "selection"], update: () => this.update() });
    byId("search").addEventListener("change", () => this.search(/** @type {Within} */ (inputById("within").value), inputById("search").value));
    byId("within").addEventListener("change", () => byId("search").focus());
    offerValues(page.data.model);
  }

  /**
   * Searches, and goes to the first hit.
   * @param {Within} within
   * @param {string} text
   */
  async search(within, text) {
    const { data, state, navigator, live } = this.page;
    const wanted = text.trim();
    byId("stage").focus();
    state.query = wanted ? { within, text: wanted } : null;
    const found = within === "value" && wanted ? await data.names.find(wanted) : null;
    navigator.search(found);
    await this.fetch(state.query, 0);
    this.page.panels.update("hits");
    if (this.refused !== null) live.say(this.refused);
    else if (wanted && this.total === 0) live.say(`Nothing contains ${wanted}`);
    else if (wanted) {
      await this.step(false);
    }
  }

  /**
   * Goes to the next or previous hit.
   * @param {boolean} back
   */
  async step(back) {
    const { state, navigator } = this.page;
    if (state.search || !state.query) {
      await navigator.step(back);
      return;
    }
    await this.fetch(state.query, 0);
    if (this.total === 0) return;
    const next = (this.at + (back ? -1 : 1) + this.total) % this.total;
    while (next >= this.list.length && this.list.length < this.total) {
      const before = this.list.length;
      await this.fetch(state.query, before);
      if (this.list.length === before) return;
    }
    this.at = next;
    await this.go(this.list[next]);
  }

  /**
   * Fetches hits from a number on.
   * @param {Query | null} query
   * @param {number} first
   */
  async fetch(query, first) {
    const key = query && `${query.within} ${query.text}`;
    if (key === this.asked && first < Math.max(this.list.length, 1)) return;
    if (key !== this.asked) {
      this.asked = key;
      this.list = [];
      this.total = 0;
      this.at = -1;
      this.refused = null;
    }
    if (!query) return;
    /** @type {HitsAnswer} */
    const answer = await this.page.data.source.hits(query.within, query.text, first, PAGE).catch((error) => ({ refused: error.message }));
    if (key !== this.asked) return;
    this.refused = answer.refused ?? null;
    this.total = answer.total ?? 0;
    this.list.push(...(answer.hits || []));
  }

  /** @param {Hit} hit */
  async go(hit) {
    const { navigator } = this.page;
    if ("container" in hit) navigator.goToContainer(hit.container);
    else await navigator.jump(hit);
  }

  async update() {
    const { query } = this.page.state;
    await this.fetch(query, 0);
    if (!query) return [];
    const what = `${TITLES[query.within]} with “${query.text}”`;
    if (this.refused !== null) return [quiet(what), quiet(this.refused)];
    const rows = this.list.map((hit, i) => this.row(hit, i));
    const more = this.list.length < this.total ? button("more", "", async () => {
      await this.fetch(query, this.list.length);
      this.page.panels.update("hits");
    }, `Show more of ${this.total}`) : null;
    const made = table(`${what}: ${this.total}`, query.within === "container" ? ["Container", ["Begins", "number"]] : ["Hit", "Container", ["At", "number"]], rows);
    return more ? [made, more] : [made];
  }

  /**
   * @param {Hit} hit
   * @param {number} i
   */
  row(hit, i) {
    const { data, viewport, state } = this.page;
    const { model } = data;
    const time = model.units.format(hit.start, viewport.extent[1]);
    /** @param {(Node | string)[]} content */
    const go = (...content) => button("go", "Go there", () => {
      this.at = i;
      this.go(hit);
    }, ...content);
    if ("container" in hit) return [go(pathOf(model, hit.container)), time];
    const lane = laneOf(model, hit.lane);
    const value = lane.nature === "variable" ? null : valueOf(data, lane.type, hit.value ?? 0);
    const made = go(value ? el("span", {}, swatch(value.color), value.name) : `${model.types[lane.type].name}: ${hit.height}`);
    if (state.selected?.lane === hit.lane && state.selected.row === hit.row) made.setAttribute("aria-current", "true");
    return [made, model.containers.get(lane.container)?.name || "?", time];
  }
}

/** @param {Model} model */
function offerValues(model) {
  const names = new Set(model.types.filter((type) => type.used).flatMap((type) => Object.values(type.values).map((value) => value.name)));
  byId("values").replaceChildren(...[...names].slice(0, MOST_OFFERED).map((name) => el("option", { value: name })));
}
