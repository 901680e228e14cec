// Tests of what explains a run, in an HTML file: answers from rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "../../page/communication.js";
import { ordered, shadeOf } from "../../page/path.js";
import { binOf, histogramOf, matrixOf, messagesOf, waitsOfRow } from "../../page/rows.js";
/** @import { Block, Interval, Lane, Model } from "../../page/types" */

/** @typedef {{ start: number, end: number, value?: number, other?: number, goal?: number, height?: number, number?: number }} Plain */

/**
 * @param {Plain[]} list
 * @returns {Block}
 */
function block(list) {
  /** @type {(of: (row: Plain, i: number) => number) => any} */
  const column = (of) => list.map(of);
  return /** @type {any} */ ({
    n: list.length, isRows: true, start: column((it) => it.start), end: column((it) => it.end), height: column((it) => it.height ?? 0), number: column((it, i) => it.number ?? i),
    values: column((it) => it.value ?? 0), others: column((it) => it.other ?? 0), goals: column((it) => it.goal ?? 0),
  });
}

/**
 * @param {Partial<Lane>[]} lanes
 * @returns {Model}
 */
const model = (...lanes) => /** @type {any} */ ({ lanes: new Map(lanes.map((lane, id) => [id, { id, type: 0, ...lane }])) });

/** @type {Plain[]} */
const links = Array.from({ length: 60 }, (_, i) => ({ start: i, end: i + (i % 5) / 4, other: i % 3, goal: (i + 1) % 4 }));

test("the matrix counts messages, and clips their times", () => {
  const lanes = new Map([[0, [block(links)]]]);
  /** @type {Interval} */
  const window = [10.5, 30.25];
  const found = matrixOf(model({ nature: "link" }), lanes, window);
  const inside = links.filter(({ start, end }) => start <= 30.25 && end >= 10.5);
  assert.equal(found.count, inside.length);
  for (const [from, to, count, , time] of found.pairs) {
    const own = inside.filter(({ other, goal }) => other === from && goal === to);
    assert.equal(count, own.length);
    const clipped = own.reduce((sum, { start, end }) => sum + Math.min(end, 30.25) - Math.max(start, 10.5), 0);
    assert.ok(Math.abs(time - clipped) < 1e-9);
  }
  assert.equal(found.pairs.reduce((sum, pair) => sum + pair[2], 0), found.count);
  assert.ok(found.pairs.every((pair, i) => i === 0 || found.pairs[i - 1][2] >= pair[2]));
});

test("messages are listed in pages", () => {
  const lanes = new Map([[0, [block(links)]]]);
  const all = links.filter(({ start, other }) => start <= 50 && other === 1);
  /** @type {(order: "start" | "longest", first: number) => ReturnType<typeof messagesOf>} */
  const ask = (order, first) => messagesOf(model({ nature: "link" }), lanes, { window: [0, 50], origin: 1, goal: null, order, first, count: 7 });
  assert.deepEqual(ask("start", 0).messages.map((it) => it.start), all.slice(0, 7).map((it) => it.start));
  assert.deepEqual([ask("start", 14).messages.length, ask("start", 14).total], [all.length - 14, all.length]);
  const longest = ask("longest", 0).messages.map((it) => it.end - it.start);
  assert.deepEqual(longest, longest.toSorted((a, b) => b - a));
  assert.equal(longest[0], 1);
});

test("a file without single rows says so", () => {
  const lanes = new Map([[0, [/** @type {Block} */ ({ ...block([]), isRows: false })]]]);
  assert.throws(() => matrixOf(model({ nature: "link" }), lanes, [0, 1]), /no single rows/);
});

test("histograms count durations", () => {
  const states = Array.from({ length: 500 }, (_, i) => ({ start: i, end: i + (i % 7 === 0 ? 0 : 1.37 ** (i % 40) * 1e-6), value: i % 2 }));
  const found = histogramOf(model({ nature: "state" }), new Map([[0, [block(states)]]]), { type: 0, value: 1 }, [100, 400]);
  const own = states.filter(({ start, value }) => value === 1 && start >= 100 && start <= 400).map(({ start, end }) => end - start).sort((a, b) => a - b);
  assert.equal(found.count, own.length);
  assert.equal(found.zero, own.filter((it) => it === 0).length);
  assert.equal(found.edges.length, found.counts.length + 1);
  assert.ok(found.counts.length > 5 && found.counts.length <= 48);
  found.counts.forEach((count, i) => {
    assert.equal(count, own.filter((it) => found.edges[i] <= it && it < found.edges[i + 1]).length);
  });
  assert.deepEqual(found.longest.map((it) => it[2]), own.toReversed().slice(0, 20));
  assert.equal(found.max, own[own.length - 1]);
  const none = histogramOf(model({ nature: "state" }), new Map([[0, [block(states)]]]), { type: 0, value: 9 }, [100, 400]);
  assert.deepEqual([none.count, none.median, none.counts, none.edges], [0, null, [], []]);
});

test("bins contain their durations", () => {
  for (let i = -300; i < 300; i++) {
    const edge = 2 ** (i / 8);
    for (const duration of [edge, edge * (1 + 1e-15), edge * (1 - 1e-15), edge * 1.04]) {
      const bin = binOf(duration);
      assert.ok(2 ** (bin / 8) <= duration && duration < 2 ** ((bin + 1) / 8), `${duration}`);
    }
  }
});

test("a wait leads to its cause, and back", () => {
  const lanes = new Map([
    [3, [block([{ start: 1, end: 2, value: 0, other: 4, goal: 7, height: 2, number: 5 }, { start: 3, end: 6, value: 1, other: 4, goal: 7, height: 6, number: 8 }])]],
    [4, [block([{ start: 1, end: 2, value: 2, other: 3, goal: 0xffffffff, height: 2, number: 0 }])]],
  ]);
  const { waits, causes } = waitsOfRow(lanes, 4, 7);
  assert.deepEqual([waits.length, causes.map((it) => it.row)], [0, [8, 5]]);
  const own = waitsOfRow(lanes, 4, 0);
  assert.deepEqual(own.waits, [{ lane: 4, row: 0, kind: 2, start: 1, end: 2, whom: 3, release: null, released: 2 }]);
  assert.deepEqual(own.causes, []);
});

test("parts of the path from several tiles are in order, each once", () => {
  const part = (/** @type {number} */ number) => ({ number, lane: 0, start: number, end: number + 1 });
  assert.deepEqual(ordered([part(3), part(4), part(2), part(3)]).map((it) => it.number), [2, 3, 4]);
  assert.deepEqual(ordered([]), []);
});

test("shares have shades", () => {
  assert.deepEqual([1e-9, 0.01, 0.25, 0.5, 1, 2].map(shadeOf), [1, 1, 4, 6, 8, 8]);
});

test("sizes have units", () => {
  assert.deepEqual([null, 0, 999, 1000, 123456, 5e9].map(size), ["–", "0 B", "999 B", "1 kB", "123 kB", "5 GB"]);
});
