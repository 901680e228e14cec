// Waits for the trace, and puts the parts of the page together.
import { Address } from "./address.js";
import { listenControls, toggleLinks, toggleTheme } from "./controls.js";
import { addDetails } from "./details.js";
import { byId } from "./dom.js";
import { embeddedSource } from "./embedded.js";
import { addExplanations } from "./explain.js";
import { Fields } from "./fields.js";
import { addFlame } from "./flame.js";
import { Hits } from "./hits.js";
import { listenKeys } from "./keys.js";
import { addLegend } from "./legend.js";
import { Live } from "./live.js";
import { addMarks } from "./marks.js";
import { buildModel } from "./model.js";
import { Names } from "./names.js";
import { Navigator } from "./navigator.js";
import { Overlays } from "./overlays.js";
import { Paints } from "./paints.js";
import { Panels } from "./panels.js";
import { Pointer } from "./pointer.js";
import { Profile } from "./profile.js";
import { Scene } from "./scene.js";
import { servedSource } from "./source.js";
import { State } from "./state.js";
import { Tiles } from "./tiles.js";
import { Viewport } from "./viewport.js";
/** @import { Data, ModelAnswer, Page, Source } from "./types" */

/**
 * @param {Source} source
 * @param {ModelAnswer} answer
 */
function build(source, answer) {
  const model = buildModel(answer);
  const state = new State();
  const viewport = new Viewport(model.extent, model.window);
  if (model.window[0] === model.extent[0] && model.window[1] === model.extent[1]) viewport.fit();
  const live = new Live();
  const tiles = new Tiles(source, model, () => scene.redraw(), () => live.say("pj_view does not answer; it may have ended."));
  const names = new Names(source, model, (type) => {
    paints.forget(type);
    for (const id of ["details", "hits", "profile", "legend", "flame"]) panels.update(id);
    scene.redraw();
  });
  /** @type {Data} */
  const data = { source, model, tiles, names };
  const address = new Address(state, viewport);
  const selected = address.read(model);
  if (location.hash === "") model.overlays?.forEach((id) => state.overlays.add(id));
  const fields = new Fields(source, () => {
    scene.redraw();
    panels.update("legend");
  });
  const paints = new Paints(data, state, fields);
  const overlays = new Overlays(state, live);
  const canvas = /** @type {HTMLCanvasElement} */ (byId("canvas"));
  const scene = new Scene({ data, state, viewport, overlays, paints, canvas });
  const navigator = new Navigator({ data, state, viewport, scene, live, address });
  const panels = new Panels(state, viewport);
  /** @type {Page} */
  const page = { data, state, viewport, scene, navigator, panels, overlays, live };
  return { page, address, fields, selected };
}

/**
 * Returns the model, after showing the progress until the trace is there.
 * @param {Source} source
 */
async function waited(source) {
  for (;;) {
    const { state, done, all, events } = await source.progress();
    if (state === "ready") return source.model();
    byId("doing").textContent = `${state[0].toUpperCase()}${state.slice(1)} the trace: ${(done / 1e6).toFixed(0)} MB${all ? ` of ${(all / 1e6).toFixed(0)} MB` : ""}, ${events} events`;
    if (all) Object.assign(byId("bar"), { max: all, value: done });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function start() {
  const [model, blocks] = [document.getElementById("embedded-model"), document.getElementById("embedded-blocks")];
  try {
    const source = model && blocks ? await embeddedSource(model, blocks) : servedSource();
    const { page, address, fields, selected } = build(source, await waited(source));
    const { data, state, scene, navigator, panels } = page;
    document.title = `${data.model.name}: Pajé view`;
    byId("name").textContent = data.model.name;
    addDetails(page);
    const hits = new Hits(page);
    addMarks(page);
    const profile = new Profile(page);
    addLegend(page, fields);
    addFlame(page);
    addExplanations(page);
    const pointer = new Pointer(page, address);
    listenControls(page);
    listenKeys(page, pointer, hits, { links: () => toggleLinks(page), theme: () => toggleTheme(page) });
    window.addEventListener("popstate", async () => {
      const row = address.read(data.model);
      state.changed("layout");
      state.changed("search");
      state.changed("window");
      await navigator.show(row);
    });
    byId("wait").hidden = true;
    state.changed("layout");
    state.changed("window");
    state.changed("search");
    await navigator.show(selected);
    if (document.activeElement === document.body) byId("stage").focus();
    const idle = () => [data.tiles, data.names, fields, navigator, panels, address, page.overlays].every((it) => it.idle()) && !scene.pending;
    // For tests.
    Object.assign(window, { pajeView: { page, state: () => testState(page, profile, idle()) } });
  } catch (error) {
    byId("doing").textContent = `The trace cannot be shown: ${/** @type {Error} */ (error).message}. The program may have ended; it says why.`;
    byId("bar").hidden = true;
  }
}

/**
 * Returns the state of the page for tests.
 * @param {Page} page
 * @param {Profile} profile
 * @param {boolean} idle
 */
function testState({ data, viewport, state, scene }, profile, idle) {
  const { selected, links, range, search, query, marks, dark, cursor } = state;
  const lines = scene.layout.lines.map(({ label, top, height, lane, folded, summary }) => ({ label, top, height, lane: lane?.id ?? null, folded, summary: Boolean(summary) }));
  return {
    ready: true, idle, from: viewport.from, to: viewport.to, scroll: viewport.scroll, lines, selected, links, range, search, query, marks, dark, cursor,
    profile: profile.last, failed: data.tiles.failed, frames: scene.times,
  };
}

start();
