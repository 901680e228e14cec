// Fetches answers and tiles from the program. embedded.js does the same for a page that contains the trace.
import { parseBlocks } from "./blocks.js";
/** @import { Source } from "./types" */

/** @param {string} path */
async function fetched(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer;
}

/**
 * Returns the program's answer to a request, from JSON.
 * @param {string} path
 * @param {Record<string, any>} values
 */
export async function asked(path, values = {}) {
  const query = new URLSearchParams(values).toString();
  return (await fetched(query ? `${path}?${query}` : path)).json();
}

/** @param {string} path */
export const blocks = async (path) => parseBlocks(await (await fetched(path)).arrayBuffer());

/** @returns {Source} */
export function servedSource() {
  return {
    embedded: null,
    progress: () => asked("progress"),
    model: () => asked("model"),
    values: (type, first) => asked("values", { type, first }),
    value: (text) => asked("value", { text }),
    tiles: (level, first, count, rows, lanes) => blocks(`tiles?level=${level}&first=${first}&count=${count}&rows=${rows}&lanes=${lanes.join(",")}`),
    folded: (level, first, count, containers, hidden) => {
      return blocks(`folded?level=${level}&first=${first}&count=${count}&containers=${containers.join(",")}&hidden=${hidden.join(",")}`);
    },
    row: (lane, row) => asked("row", { lane, row }),
    profile: (from, to) => asked("profile", { from, to }),
    hits: (within, text, first, count) => asked("hits", { in: within, text, first, count }),
    classes: () => asked("classes"),
    fields: (lane, name, rows) => asked("fields", { lane, name, rows: rows.join(",") }),
    flame: (container, from, to) => asked("flame", { container, from, to }),
    find: (type, value, at, back) => asked("find", { type, value, ...at, back: back ? 1 : 0 }),
  };
}
