// Main module: waits for the trace, then draws after each change.
import { buildModel, formatTime, second } from "./model.js";
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
  constructor(source, data) {
    this.source = source;
    this.model = buildModel(data);
    this.viewport = new Viewport(data.extent, data.window);
    this.state = { folded: new Set(), hiddenTypes: new Set(), order: new Map(), filter: "", showLinks: true, selected: null, range: null, search: null, cursor: null };
    this.paints = new Map();
    this.raster = new Raster();
    this.frames = [];
    this.tiles = new Tiles(source, this.model, () => this.redraw());
    this.names = new Names(source, this.model, (type) => this.named(type));
    if (data.window[0] === data.extent[0] && data.window[1] === data.extent[1]) this.viewport.fit();
  }

  relayout() {
    this.layout = buildLayout(this.model, this.state, byId("stage").clientHeight - AXIS);
    this.moved();
  }

  // Draws in the next animation frame.
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const began = performance.now();
      drawFrame(this, byId("canvas"));
      if (this.tiles.failed) this.say("pj_view does not answer; it may have ended.");
      this.frames.push(performance.now() - began);
      if (this.frames.length > 2000) this.frames.splice(0, 1000);
    });
  }

  // Called when names of a type's values arrive.
  named(type) {
    this.paints.delete(type);
    if (this.shownProfile) showProfile(this, this.shownProfile);
    if (this.detailed) showDetails(this, this.detailed);
    this.redraw();
  }

  // Called after changes that affect the address or the profile.
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
    const profile = await this.source.profile(from, to).catch(() => null);
    if (!profile) this.profiled = null;
    if (!profile || this.profiled !== key) return;
    this.shownProfile = profile;
    showProfile(this, profile);
  }

  async select(row) {
    this.state.selected = row;
    this.state.links = null;
    const details = row && (await this.source.row(row.lane, row.row));
    if (details) {
      this.state.selected = { ...row, ...details };
      this.state.links = details.links || null;
    }
    this.detailed = details;
    showDetails(this, details);
    this.moved();
  }

  // Shows the other end of a link, and selects the state there.
  async follow(link, leaves) {
    const time = leaves ? link.end : link.start;
    const [container, span] = [leaves ? link.to : link.from, this.viewport.span];
    if (link.other) {
      const [lane, row] = link.other;
      const state = await this.source.row(lane, row);
      this.reveal({ lane, start: time, end: time });
      await this.select({ lane, row, start: state.start, end: state.end });
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

  // Returns the state of the page for tests.
  testState() {
    const { viewport, state, layout, tiles } = this;
    return {
      ready: true, idle: tiles.idle() && !this.pending && this.names.idle(), from: viewport.from, to: viewport.to, scroll: viewport.scroll,
      lines: layout.lines.map(({ label, top, height, lane, folded, summary }) => ({ label, top, height, lane: lane?.id ?? null, folded, summary: Boolean(summary) })),
      selected: state.selected, links: state.links, range: state.range, search: state.search, dark: state.dark, cursor: state.cursor,
      profile: this.shownProfile, failed: tiles.failed || null, frames: this.frames,
    };
  }
}

async function waited(source) {
  for (;;) {
    const progress = await source.progress();
    if (progress.state === "ready") return source.model();
    byId("doing").textContent = `${progress.state[0].toUpperCase()}${progress.state.slice(1)} the trace: ${(progress.done / 1e6).toFixed(0)} MB${progress.all ? ` of ${(progress.all / 1e6).toFixed(0)} MB` : ""}, ${progress.events} events`;
    if (progress.all) Object.assign(byId("bar"), { max: progress.all, value: progress.done });
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
    const time = Number.parseFloat(event.target.value) * second;
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
    window.pajeView = { app, state: () => app.testState() };
  } catch (error) {
    byId("doing").textContent = `The trace cannot be shown: ${error.message}. The program may have ended; it says why.`;
    byId("bar").hidden = true;
  }
}

start();
