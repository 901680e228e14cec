// Parses tiles: blocks of arrays. tiles.rs describes the format.
/** @import { Block } from "./types" */

const HEAD = 32;
const ROWS = 2;
const RANGES = 3;

/** @typedef {Float64ArrayConstructor | Float32ArrayConstructor | Uint32ArrayConstructor} ArrayType */

/** @type {Record<string, ArrayType>} */
const ROW_ARRAYS = {
  start: Float64Array, end: Float64Array, height: Float64Array, number: Float64Array, values: Uint32Array, others: Uint32Array, goals: Uint32Array,
};
/** @type {Record<string, ArrayType>} */
const RANGE_ARRAYS = { min: Float64Array, max: Float64Array, mean: Float64Array };
/** @type {Record<string, ArrayType>} */
const BIN_ARRAYS = { ends: Uint32Array, starts: Uint32Array };
/** @type {Record<string, ArrayType>} */
const AMOUNT_ARRAYS = { values: Uint32Array, others: Uint32Array, amounts: Float32Array, delays: Float32Array };

/**
 * Returns the names, types and lengths of a block's arrays, in their order.
 * @param {{ kind: number, n: number, m: number }} head
 * @returns {[string, ArrayType, number][]}
 */
function arraysOf({ kind, n, m }) {
  /** @type {(types: Record<string, ArrayType>, length: number) => [string, ArrayType, number][]} */
  const all = (types, length) => Object.entries(types).map(([name, type]) => [name, type, length]);
  if (kind === ROWS) return all(ROW_ARRAYS, n);
  if (kind === RANGES) return all(RANGE_ARRAYS, n);
  return [...all(BIN_ARRAYS, n), ...all(AMOUNT_ARRAYS, m)];
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {Block[]}
 */
export function parseBlocks(buffer) {
  const view = new DataView(buffer);
  const found = [];
  let at = 0;
  while (at < buffer.byteLength) {
    /** @type {(i: number) => number} */
    const word = (i) => view.getUint32(at + 4 * i, true);
    /** @type {any} */
    const block = { lane: word(0), kind: word(1), level: word(2), n: word(3), m: word(4), first: view.getFloat64(at + 24, true) };
    const arrays = arraysOf(block);
    /** @type {(type: ArrayType, length: number) => number} */
    const padded = (type, length) => Math.ceil((length * type.BYTES_PER_ELEMENT) / 8) * 8;
    block.bytes = arrays.reduce((sum, [, type, length]) => sum + padded(type, length), 0);
    // Blocks do not share memory, so that each can be freed.
    const own = buffer.slice(at + HEAD, at + HEAD + block.bytes);
    let offset = 0;
    for (const [name, type, length] of arrays) {
      block[name] = new type(own, offset, length);
      offset += padded(type, length);
    }
    block.isRows = block.kind === ROWS;
    found.push(block);
    at += HEAD + block.bytes;
  }
  return found;
}
