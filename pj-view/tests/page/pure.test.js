// Tests of the parts of the page that need no browser: `node --test tests/page/`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode } from "../../page/address.js";
import { parseBlocks } from "../../page/blocks.js";
import { reordered } from "../../page/containers.js";
import { sourceOf } from "../../page/embedded.js";
import { boxesOf } from "../../page/flame.js";
import { foldedBlock, foldedName, foldedOf } from "../../page/folded.js";
import { buildLayout, linesOnScreen, sublane, visibleLines } from "../../page/layout.js";
import { buildModel, colorNumber, lifetimes, pathOf } from "../../page/model.js";
import { freeName } from "../../page/marks.js";
import { cssColor, durationColor, textColor } from "../../page/ramp.js";
import { isLight, isNear, mix } from "../../page/raster.js";
import { State } from "../../page/state.js";
import { countUntil, Tiles } from "../../page/tiles.js";
import { niceStep, Units } from "../../page/units.js";
import { Viewport } from "../../page/viewport.js";
import { answer, rows } from "./trace.js";

test("times have the largest unit that fits", () => {
  const units = new Units(1);
  assert.equal(units.format(0), "0 s");
  assert.equal(units.format(1.5), "1.5 s");
  assert.equal(units.format(-0.002), "-2 ms");
  assert.equal(units.format(3e-6), "3 µs");
  assert.equal(units.format(2e-12), "0.002 ns");
  assert.equal(units.format(0.25, 10), "0.25 s");
  // Times in milliseconds.
  assert.equal(new Units(1000).format(2500), "2.5 s");
});

test("marks of an axis differ and have one unit", () => {
  const units = new Units(1);
  for (const [from, step] of [[0, 0.1], [123.456, 1e-6], [1e6, 0.5], [0, 1e-9]]) {
    const labels = Array.from({ length: 20 }, (_, i) => units.mark(from + i * step, step, from + 20 * step));
    assert.equal(new Set(labels).size, 20, labels.join());
    assert.equal(new Set(labels.map((it) => it.split(" ")[1])).size, 1);
  }
  for (const least of [0.11, 0.9, 1, 1.1, 4.9, 7, 1e-7]) {
    const step = niceStep(least);
    assert.ok(step >= least * 0.999 && step < least * 2.6, `${least}: ${step}`);
  }
});

test("zooming keeps the time at the pointer, and the window stays at the trace", () => {
  const viewport = new Viewport([0, 100], [20, 40]);
  viewport.width = 800;
  const time = viewport.time(200);
  for (let i = 0; i < 50; i++) viewport.zoom(0.8, 200);
  assert.ok(Math.abs(viewport.time(200) - time) < 1e-6 && viewport.span < 1e-3);
  for (let i = 0; i < 200; i++) viewport.zoom(1.25, 200);
  assert.ok(viewport.from >= -10 && viewport.to <= 110);
  viewport.pan(1e6);
  assert.ok(viewport.from < 100 && viewport.to <= 110);
  viewport.show(50, 60);
  viewport.reveal(55, 56);
  assert.deepEqual([viewport.from, viewport.to], [50, 60]);
  viewport.reveal(70, 71);
  assert.ok(viewport.from < 70 && viewport.to > 71 && Math.abs(viewport.span - 10) < 1e-9);
});

test("the model links containers, lanes and types", () => {
  const model = buildModel(answer());
  assert.equal(pathOf(model, 3), "node / rank-1");
  assert.equal(pathOf(model, 0), "root");
  assert.equal(model.containers.get(1)?.hasStates, true);
  assert.deepEqual(model.types.map((it) => it.used), [false, false, true, true]);
  assert.equal(lifetimes(model, 2, 0, 10), 18);
  assert.equal(lifetimes(model, 2, 1, 3), 3);
  assert.equal(colorNumber("#ff8001"), 0xff0180ff);
});

test("lines are laid out by folds, filter, order and types", () => {
  const model = buildModel(answer());
  const state = new State();
  const labels = () => buildLayout(model, state, 50).lines.map((line) => line.label);
  assert.deepEqual(labels(), ["node", "rank-0", "rank-1", "State", "Power"]);
  state.order.set(1, [3, 2]);
  assert.deepEqual(labels(), ["node", "rank-1", "State", "Power", "rank-0"]);
  state.hiddenTypes.add(3);
  assert.deepEqual(labels(), ["node", "rank-1", "rank-0"]);
  state.pins.add(3);
  assert.deepEqual(labels(), ["rank-1", "node", "rank-0"]);
  const pinned = buildLayout(model, state, 50);
  assert.equal(pinned.pinned, pinned.lines[1].top);
  const [first, others] = linesOnScreen(pinned, { scroll: pinned.lines[2].top - pinned.pinned, height: 500, pinned: pinned.pinned });
  assert.deepEqual([first, others].map((list) => list.map((line) => line.label)), [["rank-1"], ["node", "rank-0"]]);
  state.pins.clear();
  state.filter = "K-0";
  assert.deepEqual(labels(), ["node", "rank-0"]);
  state.filter = "";
  state.folded.add(1);
  assert.deepEqual(labels(), ["node"]);
  state.folded.clear();
  const layout = buildLayout(model, state, 50);
  assert.deepEqual(visibleLines(layout, layout.lines[1].top + 1, layout.lines[1].top + 2).map((line) => line.label), ["rank-1"]);
  const [line] = layout.lines.filter((it) => it.lane?.depth === 2);
  assert.ok(sublane(line, 1)[0] > sublane(line, 0)[0] && sublane(line, 9)[0] === sublane(line, 1)[0]);
});

test("containers move among their siblings only", () => {
  const model = buildModel(answer());
  assert.deepEqual(reordered(model, new Map(), 3, 2), [3, 2]);
  assert.equal(reordered(model, new Map(), 2, 2), null);
  assert.equal(reordered(model, new Map(), 2, 1), null);
  assert.equal(reordered(model, new Map(), 0, 2), null);
});

test("an address gives the same view back", () => {
  const model = buildModel(answer());
  const view = {
    window: /** @type {[number, number]} */ ([0.1 + 0.2, 7]), scroll: 12, selected: { lane: 8, row: 1 }, range: /** @type {[number, number]} */ ([1, 2]),
    folded: new Set([1]), pins: new Set([3]), hiddenTypes: new Set([3]), order: new Map([[1, [3, 2]]]), overlays: new Set(["waits"]),
    search: { type: 2, value: 1 }, color: { by: /** @type {"field"} */ ("field"), name: "Size" }, query: { within: /** @type {"key"} */ ("key"), text: "a,b=c" }, marks: [{ time: 0.1, name: "A" }, { time: 3, name: "ü,~ b" }], filter: "a b&c=d,é", showLinks: false, dark: true,
  };
  assert.deepEqual(decode(encode(view), model), view);
  const empty = decode("", model);
  assert.deepEqual(decode(encode(empty), model), empty);
  const foreign = decode("t=5,1&sel=99,1&folded=99,x&hidden=77&search=2,50&order=1:2.2,9:1&on=<b>&y=z&marks=x~a,1,2~&find=row,x", model);
  assert.deepEqual(foreign, empty);
});

test("blocks are parsed, and do not share memory", () => {
  const bytes = new ArrayBuffer(2 * (32 + 3 * 8));
  const view = new DataView(bytes);
  for (const at of [0, 56]) {
    [5, 3, 20, 1, 0, 0].forEach((word, i) => view.setUint32(at + 4 * i, word, true));
    [64, -1, 2, 0.5].forEach((number, i) => view.setFloat64(at + 24 + 8 * i, number, true));
  }
  const blocks = parseBlocks(bytes);
  assert.equal(blocks.length, 2);
  for (const block of blocks) {
    assert.deepEqual([block.lane, block.level, block.n, block.first, block.isRows], [5, 20, 1, 64, false]);
    assert.deepEqual([block.min[0], block.max[0], block.mean[0]], [-1, 2, 0.5]);
    assert.equal(block.min.buffer.byteLength, block.bytes);
  }
  assert.notEqual(blocks[0].min.buffer, blocks[1].min.buffer);
});

test("data in the page answers as the program does", async () => {
  const source = sourceOf(answer(), [rows(7, [[0, 4, 0], [4, 5, 1], [5, 10, 0]]), rows(8, [[2, 9, 0], [3, 4, 1, 1]])]);
  assert.deepEqual(await source.value("comp"), { type: 2, value: 0 });
  assert.equal(await source.value("nothing"), null);
  const profile = await source.profile(3, 6);
  assert.deepEqual(profile.states, [[2, 0, 1 + 1 + 3], [2, 1, 1 + 1]]);
  const found = await source.find(2, 1, { time: 0, lane: 0, row: 0 }, false);
  assert.deepEqual(found, { lane: 8, row: 1, start: 3, end: 4 });
  const next = await source.find(2, 1, { time: 4, lane: 7, row: 1 }, false);
  assert.deepEqual(next, found, "continues at the other end");
  assert.equal((await source.row(8, 1))?.imbrication, 1);
  assert.equal(await source.row(8, 5), null);
});

test("data in the page is searched", async () => {
  const source = sourceOf(answer(), [rows(7, [[0, 4, 0], [4, 5, 1], [5, 10, 0]]), rows(8, [[2, 9, 0], [3, 4, 1, 1]])]);
  const { total, hits } = await source.hits("value", "COMP", 1, 1);
  assert.equal(total, 3);
  assert.deepEqual(hits?.map((hit) => "lane" in hit && [hit.lane, hit.row]), [[8, 0]]);
  assert.deepEqual((await source.hits("container", "rank", 0, 9)).hits, [{ container: 2, start: 0 }, { container: 3, start: 2 }]);
  assert.equal((await source.hits("value", "nothing", 0, 9)).total, 0);
  assert.ok((await source.hits("key", "x", 0, 9)).refused);
});

test("markers have free names", () => {
  assert.equal(freeName([]), "A");
  assert.equal(freeName([{ time: 0, name: "A" }, { time: 1, name: "C" }]), "B");
  assert.equal(freeName(Array.from({ length: 26 }, (_, i) => ({ time: i, name: String.fromCharCode(65 + i) }))), "A1");
});

test("a folded container has the shares of its lanes", () => {
  const model = buildModel(answer());
  const name = foldedName(1, new Set([3, 2]));
  assert.deepEqual(foldedOf(name), { id: 1, hidden: [2, 3] });
  const blocks = new Map([[7, [rows(7, [[0, 10, 0]])]], [8, [rows(8, [[0, 10, 1]])]]]);
  const block = foldedBlock(model, blocks, foldedName(1, []));
  const amounts = [...block.amounts].slice(0, 2);
  assert.deepEqual([...block.values].slice(0, 2).sort(), [0, 1]);
  assert.ok(amounts.every((it) => Math.abs(it - 0.5) < 1e-9), amounts.join());
  assert.equal(foldedBlock(model, blocks, foldedName(1, [2])).values.length, 0);
});

test("times are counted by bisection", () => {
  const times = Float64Array.of(1, 2, 2, 3);
  assert.deepEqual([0, 2, 9].map((time) => countUntil(times, time, false)), [0, 1, 4]);
  assert.deepEqual([0, 2, 9].map((time) => countUntil(times, time, true)), [0, 3, 4]);
});

test("colours are mixed and compared", () => {
  assert.equal(mix(0xff000000, 0xffffffff, 0.5), 0xff808080);
  assert.ok(isNear(0xffffffff, 0xfff0f0f0) && !isNear(0xffffffff, 0xff0000ff));
  assert.ok(isLight(0xffffffff) && !isLight(0xff0000ff));
});

test("listeners hear the changes that they asked for", () => {
  const state = new State();
  /** @type {string[]} */
  const heard = [];
  state.on(["layout"], (kind) => heard.push(`some ${kind}`));
  state.on(null, (kind) => heard.push(`all ${kind}`));
  state.changed("window");
  state.changed("layout");
  assert.deepEqual(heard, ["all window", "some layout", "all layout"]);
});

test("nested states are added up by path", async () => {
  const source = sourceOf(answer(), [rows(7, [[0, 4, 0], [1, 3, 1, 1], [4, 4, 1, 1], [4, 9, 0], [5, 6, 1, 1]]), rows(8, [[0, 8, 1]])]);
  const all = await source.flame(0, 0, 10);
  assert.deepEqual(all.paths, [[null, 2, 0, 9, 2], [0, 2, 1, 3, 3], [null, 2, 1, 8, 1]]);
  const some = await source.flame(2, 2, 5.5);
  assert.deepEqual(some.paths, [[null, 2, 0, 3.5, 2], [0, 2, 1, 1.5, 3]]);
  const boxes = boxesOf(all.paths || []);
  assert.deepEqual(boxes.map((it) => [it.depth, it.left * 17, it.width * 17].map(Math.round)), [[0, 0, 9], [0, 9, 8], [1, 0, 3]]);
  assert.deepEqual(boxesOf([]), []);
});

test("colours of durations are ordered by brightness, those of texts are stable", () => {
  /** @param {number} color */
  const bright = (color) => 0.3 * (color & 255) + 0.59 * ((color >>> 8) & 255) + 0.11 * ((color >>> 16) & 255);
  const scale = Array.from({ length: 25 }, (_, i) => bright(durationColor(10 ** (-6 + i / 4))));
  assert.ok(scale.every((it, i) => i === 0 || it > scale[i - 1]), scale.join());
  assert.equal(durationColor(0), durationColor(1e-9));
  assert.equal(durationColor(5), durationColor(1));
  assert.equal(textColor("1024"), textColor("1024"));
  assert.ok(new Set(Array.from({ length: 100 }, (_, i) => textColor(`v${i}`))).size > 95);
  assert.equal(cssColor(0xff0180ff), "rgb(255 128 1)");
});

test("tiles are dropped when they take too much memory, the least recently used first", async () => {
  const model = buildModel(answer());
  /** @type {any} */
  const source = { embedded: null, tiles: async () => [{ ...rows(7, [[0, 1, 0]]), bytes: 10e6 }] };
  const tiles = new Tiles(source, model, () => {}, () => {});
  for (let tile = 0; tile < 30; tile++) {
    tiles.best(7, 10, 0);
    await tiles.request(`10:${tile}:number`, [7]);
    assert.ok(tiles.bytes <= 96e6 && tiles.bytes === 10e6 * tiles.cache.size, `${tiles.bytes} bytes`);
  }
  assert.ok(tiles.cache.size >= 8 && tiles.cache.has("7:10:0") && tiles.cache.has("7:10:29") && !tiles.cache.has("7:10:1"));
});
