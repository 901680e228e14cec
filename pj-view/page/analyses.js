// Answers of the analyses: from the program, or computed from the data in an HTML file.
import { parseBlocks } from "./blocks.js";
import { decoded } from "./embedded.js";
import { grouped } from "./model.js";
import { asked, blocks } from "./source.js";
import { histogramOf, matrixOf, messagesOf, waitsOfRow } from "./rows.js";
/** @import { Block, Data, Details, HistogramAnswer, Interval, MatrixAnswer, MessagesAnswer, MessagesAsked, Overview, TypedValue, VerdictAnswer } from "./types" */

/** Lane of blocks with the critical path. */
export const PATH_LANE = 0xffffffff;

/** Milliseconds between questions whether the analysis is finished. */
const AGAIN = 200;

/**
 * Where answers come from. Those of the first group begin the analysis of waiting, and wait for it.
 * @typedef {object} Analyses
 * @property {() => Promise<Overview>} overview
 * @property {() => Promise<VerdictAnswer>} verdict
 * @property {(row: Details) => Promise<Pick<Details, "waits" | "causes">>} ofRow
 * @property {() => Promise<Map<number, Block[]> | null>} blocks Blocks of waits and of the path, if the page has them.
 * @property {(level: number, first: number, count: number, rows: number, lanes: number[]) => Promise<Block[]>} waits
 * @property {(level: number, first: number, count: number, containers: number[], hidden: number[]) => Promise<Block[]>} foldedWaits
 * @property {(level: number, first: number, count: number, rows: number) => Promise<Block[]>} path
 * @property {(window: Interval) => Promise<MatrixAnswer>} matrix
 * @property {(which: MessagesAsked) => Promise<MessagesAnswer>} messages
 * @property {(value: TypedValue, window: Interval) => Promise<HistogramAnswer>} histogram
 */

/**
 * @param {Data} data
 * @returns {Analyses}
 */
export function analysesOf(data) {
  return data.source.embedded ? embedded(data, data.source.embedded) : served();
}

/** @param {string} path */
async function finished(path) {
  for (;;) {
    const answer = await asked(path);
    if (answer.state !== "computing") return answer;
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/**
 * Remembers the first result of a function. After an error, the next call tries again.
 * @template T
 * @param {() => Promise<T>} get
 */
function once(get) {
  /** @type {Promise<T> | null} */
  let found = null;
  return () => {
    found ||= get().catch((error) => {
      found = null;
      throw error;
    });
    return found;
  };
}

/** @returns {Analyses} */
function served() {
  const overview = once(() => finished("explained"));
  return {
    overview,
    verdict: once(() => finished("verdict")),
    ofRow: async ({ lane, row, waits, causes }) => {
      if (waits) return { waits, causes };
      await overview();
      return asked("row", { lane, row });
    },
    blocks: async () => null,
    waits: (level, first, count, rows, lanes) => blocks(`waits?level=${level}&first=${first}&count=${count}&rows=${rows}&lanes=${lanes.join(",")}`),
    foldedWaits: (level, first, count, containers, hidden) => {
      return blocks(`waits?level=${level}&first=${first}&count=${count}&containers=${containers.join(",")}&hidden=${hidden.join(",")}`);
    },
    path: (level, first, count, rows) => blocks(`path?level=${level}&first=${first}&count=${count}&rows=${rows}`),
    matrix: ([from, to]) => asked("matrix", { from, to }),
    messages: ({ window: [from, to], origin, goal, order, first, count }) => {
      const ends = { ...(origin === null ? {} : { origin }), ...(goal === null ? {} : { goal }) };
      return asked("messages", { from, to, order, first, count, ...ends });
    },
    histogram: (value, [from, to]) => asked("histogram", { ...value, from, to }),
  };
}

/**
 * @param {Data} data
 * @param {Map<number, Block[]>} lanes
 * @returns {Analyses}
 */
function embedded({ model }, lanes) {
  const ofPage = once(async () => {
    const text = document.getElementById("embedded-overlays")?.textContent?.trim() || "";
    return grouped(parseBlocks(await decoded(text)), (block) => block.lane);
  });
  return {
    overview: async () => present(model.explained),
    verdict: async () => present(model.verdict),
    ofRow: async ({ lane, row }) => waitsOfRow(await ofPage(), lane, row),
    blocks: ofPage,
    waits: async () => [],
    foldedWaits: async () => [],
    path: async () => [],
    matrix: async (window) => {
      const [from, to] = model.extent;
      return model.matrix && window[0] <= from && window[1] >= to ? model.matrix : matrixOf(model, lanes, window);
    },
    messages: async (which) => messagesOf(model, lanes, which),
    histogram: async (value, window) => histogramOf(model, lanes, value, window),
  };
}

/**
 * @template T
 * @param {T | undefined} found
 */
function present(found) {
  if (!found) throw new Error("this file was written without the analysis");
  return found;
}
