// The page: waits for the trace, then draws whenever there is something new.
import { buildModel, formatTime } from "./model.js";
import { embeddedSource, servedSource } from "./source.js";
import { Names } from "./names.js";
import { Tiles } from "./tiles.js";
import { Viewport } from "./viewport.js";
import { buildLayout } from "./layout.js";
import { Raster } from "./raster.js";
import { AXIS, drawFrame } from "./draw.js";
import { showDetails, showProfile, el } from "./panel.js";
import { offerValues, stepTo } from "./search.js";
import { showLegend } from "./legend.js";
import { listenGutter } from "./gutter.js";
import { KEYS, listenInput } from "./input.js";
import { readAddress, writeAddress } from "./address.js";

const byId = (id) => document.getElementById(id);

class App {
  constructor(source, told) {
    this.source = source;
    this.model = buildModel(told);
    this.viewport = new Viewport(told.extent, told.window);
    this.state = { folded: new Set(), hiddenTypes: new Set(), order: new Map(), filter: "", showLinks: true, selected: null, range: null, search: null, cursor: null };
    this.paints = new Map();
    this.raster = new Raster();
    this.frames = [];
    this.tiles = new Tiles(source, this.model, () => this.redraw());
    this.names = new Names(source, this.model, (type) => this.named(type));
    if (told.window[0] === told.extent[0] && told.window[1] === told.extent[1]) this.viewport.fit();
  }

  relayout() {
    this.layout = buildLayout(this.model, this.state, byId("stage").clientHeight - AXIS);
    this.moved();
  }

  // Draws once the browser has time for it.
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const began = performance.now();
      drawFrame(this, byId("canvas"));
      if (this.tiles.failed) this.say("The program that serves this page does not answer: it may have ended.");
      this.frames.push(performance.now() - began);
      if (this.frames.length > 2000) this.frames.splice(0, 1000);
    });
  }

  // Values of a type are known now that were not.
  named(type) {
    this.paints.delete(type);
    if (this.told) showProfile(this, this.told);
    if (this.detailed) showDetails(this, this.detailed);
    this.redraw();
  }

  // Something changed that the address and the profile tell.
  moved() {
    this.redraw();
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      writeAddress(this);
      this.profile();
    }, 250);
  }

  async profile() {
    const { viewport, state } = this;
    const [from, to] = state.range || [viewport.from, viewport.to];
    const key = `${from} ${to}`;
    if (this.profiled === key) return;
    this.profiled = key;
    const told = await this.source.profile(from, to).catch(() => null);
    if (!told) this.profiled = null;
    if (!told || this.profiled !== key) return;
    this.told = told;
    showProfile(this, told);
  }

  async select(row) {
    this.state.selected = row;
    this.state.links = null;
    const told = row && (await this.source.row(row.lane, row.row));
    if (told) {
      this.state.selected = { ...row, ...told };
      this.state.links = told.links || null;
    }
    this.detailed = told;
    showDetails(this, told);
    this.moved();
  }

  // To the other end of a link: the state there, or where it would be.
  async follow(link, leaves) {
    const time = leaves ? link.end : link.start;
    const [container, span] = [leaves ? link.to : link.from, this.viewport.span];
    if (link.other) {
      const [lane, row] = link.other;
      const told = await this.source.row(lane, row);
      this.reveal({ lane, start: time, end: time });
      await this.select({ lane, row, start: told.start, end: told.end });
    } else {
      this.viewport.reveal(time, time);
      this.scrollTo(this.layout.places.get(container));
      this.moved();
    }
    this.say(`At the other end of the link, at ${formatTime(time, span)}`);
  }

  reveal(row) {
    this.viewport.reveal(row.start, row.end);
    this.scrollTo(this.layout.byLane.get(row.lane)?.top);
    this.moved();
  }

  scrollTo(top) {
    const { viewport } = this;
    if (top === undefined) return;
    if (top < viewport.scroll || top > viewport.scroll + viewport.height - 40) viewport.scroll = Math.max(0, top - viewport.height / 2);
  }

  async search(found) {
    this.state.search = found;
    this.state.place = null;
    showLegend(this);
    this.moved();
    byId("search").value = found ? (await this.names.known(found.type, found.value))?.name || "" : "";
  }

  toggleType(id) {
    if (!this.state.hiddenTypes.delete(id)) this.state.hiddenTypes.add(id);
    this.relayout();
  }

  toggleLinks() {
    this.state.showLinks = !this.state.showLinks;
    byId("links").setAttribute("aria-pressed", String(this.state.showLinks));
    this.moved();
  }

  toggleTheme(dark = !this.state.dark) {
    this.state.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    byId("theme").textContent = dark ? "Light" : "Dark";
    this.style = null;
    this.moved();
  }

  fit() {
    this.viewport.fit();
    this.moved();
  }

  fitSelected() {
    const { selected, range } = this.state;
    if (selected) this.viewport.around(selected.start, selected.end);
    else if (range) this.viewport.show(...range);
    this.moved();
  }

  clear() {
    this.state.range = null;
    this.search(null);
    this.select(null);
    byId("stage").focus();
  }

  say(text) {
    const node = byId("tip");
    node.textContent = text;
    node.hidden = false;
  }

  // State of the page, for tests.
  toldState() {
    const { viewport, state, layout, tiles } = this;
    return {
      ready: true, idle: tiles.idle() && !this.pending && this.names.idle(), from: viewport.from, to: viewport.to, scroll: viewport.scroll,
      lines: layout.lines.map(({ label, top, height, lane, folded, summary }) => ({ label, top, height, lane: lane?.id ?? null, folded, summary: Boolean(summary) })),
      selected: state.selected, links: state.links, range: state.range, search: state.search, dark: state.dark, cursor: state.cursor,
      profile: this.told, failed: tiles.failed || null, frames: this.frames,
    };
  }
}

async function waited(source) {
  for (;;) {
    const told = await source.progress();
    if (told.state === "ready") return source.model();
    byId("doing").textContent = `${told.state[0].toUpperCase()}${told.state.slice(1)} the trace: ${(told.done / 1e6).toFixed(0)} MB${told.all ? ` of ${(told.all / 1e6).toFixed(0)} MB` : ""}, ${told.events} events`;
    if (told.all) Object.assign(byId("bar"), { max: told.all, value: told.done });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function listenControls(app) {
  const { state } = app;
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  on("fit", "click", () => app.fit());
  on("links", "click", () => app.toggleLinks());
  on("theme", "click", () => app.toggleTheme());
  on("help", "click", () => byId("keys").showModal());
  byId("keylist").append(...KEYS.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]));
  on("filter", "input", (event) => {
    state.filter = event.target.value;
    app.relayout();
  });
  on("search", "change", async (event) => {
    const found = await app.names.find(event.target.value);
    app.search(found);
    if (found) stepTo(app, false);
    byId("stage").focus();
  });
  on("goto", "change", (event) => {
    const time = Number.parseFloat(event.target.value);
    if (Number.isFinite(time)) app.viewport.show(time - app.viewport.span / 2, time + app.viewport.span / 2);
    app.moved();
  });
  new ResizeObserver(() => app.relayout()).observe(byId("stage"));
}

async function start() {
  const embedded = byId("embedded-model");
  try {
    const source = embedded ? await embeddedSource(embedded, byId("embedded-blocks")) : servedSource();
    const app = new App(source, await waited(source));
    const selected = readAddress(app);
    document.title = `${app.model.name}: Pajé view`;
    byId("name").textContent = app.model.name;
    byId("filter").value = app.state.filter;
    byId("links").setAttribute("aria-pressed", String(app.state.showLinks));
    app.relayout();
    app.toggleTheme(app.state.dark);
    offerValues(app.model);
    showLegend(app);
    if (app.state.search) app.search(app.state.search);
    listenControls(app);
    listenInput(app, byId("stage"));
    listenGutter(app, byId("stage"));
    byId("wait").hidden = true;
    if (selected) await app.select(selected);
    window.pajeView = { app, state: () => app.toldState() };
  } catch (error) {
    byId("doing").textContent = `The trace cannot be shown: ${error.message}. The program may have ended; it says why.`;
    byId("bar").hidden = true;
  }
}

start();
