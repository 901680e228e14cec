// A small trace as the program would send it: two ranks in a node, each with states; rank-1 also has a variable.

/** @returns {import("../../page/types").ModelAnswer} */
export function answer() {
  return {
    name: "small", version: "0", origin: 0, tick: 2 ** -20, second: 1, unit: "times in seconds", extent: [0, 10], window: [0, 10], fields: false,
    types: [
      { name: "Root", nature: "container", parent: 0, color: "#000000", values: [], count: 0 },
      { name: "Rank", nature: "container", parent: 0, color: "#000000", values: [], count: 0 },
      { name: "State", nature: "state", parent: 1, color: "#000000", values: [["Compute", "#ff0000", true], ["Wait", "#0000ff", true]], count: 2 },
      { name: "Power", nature: "variable", parent: 1, color: "#00ff00", values: [], count: 0 },
    ],
    containers: { id: [0, 1, 2, 3], name: ["root", "node", "rank-0", "rank-1"], type: [0, 1, 1, 1], parent: [0, 0, 1, 1], start: [0, 0, 0, 2], end: [10, 10, 10, 10] },
    lanes: { id: [7, 8, 9], container: [2, 3, 3], type: [2, 2, 3], rows: [3, 2, 1], depth: [1, 2, 1], min: [0, 0, 0], max: [0, 0, 5] },
  };
}

/**
 * Returns a block of rows.
 * @param {number} lane
 * @param {[start: number, end: number, value: number, imbrication?: number][]} list
 * @returns {any}
 */
export function rows(lane, list) {
  /** @type {(i: 0 | 1 | 2 | 3) => number[]} */
  const column = (i) => list.map((row) => row[i] ?? 0);
  return {
    lane, kind: 2, isRows: true, level: 63, n: list.length, first: 0,
    start: Float64Array.from(column(0)), end: Float64Array.from(column(1)), height: new Float64Array(list.length),
    number: Float64Array.from(list.keys()), values: Uint32Array.from(column(2)), others: Uint32Array.from(column(3)), goals: new Uint32Array(list.length),
  };
}
