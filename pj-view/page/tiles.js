// Caches tiles of lanes, and fetches missing ones.
import { foldedBlock, foldedOf } from "./folded.js";
/** @import { Block, LaneName, Model, Segment, Source } from "./types" */

const TILE = 512;
const MOST_ROWS = 768;
const MOST_BYTES = 96e6;
const AT_ONCE = 3;
const LANES_AT_ONCE = 48;
const FINEST = 10;

/**
 * Counts the times before a time in a sorted list. With `inclusive`, also counts times equal to it.
 * @param {Float64Array} times
 * @param {number} time
 * @param {boolean} inclusive
 */
export function countUntil(times, time, inclusive) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time || (inclusive && times[middle] === time)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Tiles {
  /**
   * @param {Source} source
   * @param {Model} model
   * @param {() => void} arrived
   * @param {() => void} gone Called when the program does not answer.
   */
  constructor(source, model, arrived, gone) {
    this.source = source;
    this.model = model;
    this.arrived = arrived;
    this.gone = gone;
    /** Blocks, least recently used first. @type {Map<string, Block>} */
    this.cache = new Map();
    this.bytes = 0;
    /** Lanes whose tiles are missing, by level, tile and kind. @type {Map<string, LaneName[]>} */
    this.wanted = new Map();
    /** @type {Set<string>} */
    this.flying = new Set();
    this.requests = 0;
    /** Why the last request failed. @type {string | null} */
    this.failed = null;
    this.blocked = false;
    /** @type {WeakMap<Block, { first: Float64Array, last: Float64Array }>} */
    this.sortedTimes = new WeakMap();
  }

  /**
   * Returns the level at which a bin is one to two pixels wide.
   * @param {number} secondsPerPixel
   */
  levelFor(secondsPerPixel) {
    return Math.min(63, Math.max(FINEST, Math.ceil(Math.log2(secondsPerPixel / this.model.tick))));
  }

  /**
   * Returns the blocks of a lane or a folded container between two times, each with the interval that
   * it covers.
   * @param {LaneName} lane
   * @param {number} level
   * @param {number} from
   * @param {number} to
   * @returns {Segment[]}
   */
  segments(lane, level, from, to) {
    if (this.source.embedded) return this.embeddedSegments(lane, level, from, to);
    const width = this.model.tick * 2 ** level * TILE;
    // Beside another trace, a view may show times that this trace's clock does not have.
    const last = Math.min(Math.floor((to - this.model.origin) / width), Math.floor((2 ** (63 - level) - 1) / TILE));
    const found = [];
    for (let tile = Math.max(0, Math.floor((from - this.model.origin) / width)); tile <= last; tile++) {
      const start = this.model.origin + tile * width;
      const block = this.best(lane, level, tile);
      if (block) found.push({ block, from: Math.max(start, from), to: Math.min(start + width, to) });
    }
    return found;
  }

  /**
   * @param {LaneName} lane
   * @param {number} level
   * @param {number} from
   * @param {number} to
   * @returns {Segment[]}
   */
  embeddedSegments(lane, level, from, to) {
    const blocks = typeof lane === "string" ? this.foldedBlocks(lane) : this.source.embedded?.get(lane) || [];
    const [rows, bins] = blocks[0]?.isRows ? [blocks[0], blocks.slice(1)] : [null, blocks];
    const isFine = rows && (bins.length === 0 || bins[0].level > level || this.countRows(rows, from, to) <= MOST_ROWS);
    const block = isFine ? rows : bins.find((it) => it.level >= level) || bins[bins.length - 1];
    return block ? [{ block, from, to }] : [];
  }

  /**
   * Returns the number of rows in a window: those that begin before its end, minus those that end
   * before its start.
   * @param {Block} rows
   * @param {number} from
   * @param {number} to
   */
  countRows(rows, from, to) {
    let times = this.sortedTimes.get(rows);
    if (!times) {
      const first = rows.start.map((start, i) => Math.min(start, rows.end[i])).sort();
      const last = rows.start.map((start, i) => Math.max(start, rows.end[i])).sort();
      times = { first, last };
      this.sortedTimes.set(rows, times);
    }
    return countUntil(times.first, to, true) - countUntil(times.last, from, false);
  }

  /** @param {string} name */
  foldedBlocks(name) {
    let block = this.cache.get(name);
    if (!block) {
      block = foldedBlock(this.model, this.source.embedded || new Map(), name);
      this.cache.set(name, block);
    }
    return [block];
  }

  /**
   * Returns a tile. Until it is fetched, returns a coarser one. Tiles with rows are exact at any level.
   * @param {LaneName} lane
   * @param {number} level
   * @param {number} tile
   * @returns {Block | null}
   */
  best(lane, level, tile) {
    if (level > 63 || tile < 0) return null;
    let [coarser, at] = [level, tile];
    /** @type {Block | null} */
    let found = null;
    while (coarser <= 63 && !found) {
      const key = `${lane}:${coarser}:${at}`;
      found = this.cache.get(key) || null;
      if (found) {
        this.cache.delete(key);
        this.cache.set(key, found);
      } else {
        coarser += 1;
        at = Math.floor(at / 2);
      }
    }
    if (!found || (coarser !== level && !found.isRows)) this.want(lane, level, tile);
    return found;
  }

  /**
   * @param {LaneName} lane
   * @param {number} level
   * @param {number} tile
   */
  want(lane, level, tile) {
    if (this.flying.has(`${lane}:${level}:${tile}`)) return;
    const key = `${level}:${tile}:${typeof lane}`;
    const lanes = this.wanted.get(key);
    if (lanes) lanes.push(lane);
    else this.wanted.set(key, [lane]);
  }

  /** Begins a frame. Drops requests of earlier frames that have not been sent. */
  begin() {
    this.wanted.clear();
  }

  /** Ends a frame. Requests the tiles that were missing in it. */
  send() {
    if (this.blocked) return;
    for (const [key, lanes] of this.wanted) {
      while (lanes.length > 0) {
        if (this.requests >= AT_ONCE) return;
        this.request(key, lanes.splice(0, LANES_AT_ONCE));
      }
      this.wanted.delete(key);
    }
  }

  /**
   * @param {string} key
   * @param {LaneName[]} lanes
   */
  async request(key, lanes) {
    const [level, tile] = key.split(":").map(Number);
    const count = Math.max(1, Math.min(TILE, 2 ** (63 - level) - tile * TILE));
    this.requests += 1;
    for (const lane of lanes) this.flying.add(`${lane}:${level}:${tile}`);
    try {
      const blocks = await this.blocks(level, tile * TILE, count, lanes);
      blocks.forEach((block, i) => {
        this.cache.set(`${lanes[i]}:${level}:${tile}`, block);
        this.bytes += block.bytes;
      });
      this.evict();
    } catch (error) {
      this.failed = String(error);
    }
    this.requests -= 1;
    for (const lane of lanes) this.flying.delete(`${lane}:${level}:${tile}`);
    if (this.failed) this.pause();
    else this.arrived();
  }

  /**
   * Fetches blocks. The lanes are either all numbers or all names of folded containers.
   * @param {number} level
   * @param {number} first
   * @param {number} count
   * @param {LaneName[]} lanes
   */
  blocks(level, first, count, lanes) {
    if (typeof lanes[0] === "number") return this.source.tiles(level, first, count, MOST_ROWS, /** @type {number[]} */ (lanes));
    const folded = /** @type {string[]} */ (lanes).map(foldedOf);
    return this.source.folded(level, first, count, folded.map((it) => it.id), folded[0].hidden);
  }

  /** Pauses requests after a failure, because the program may have ended. */
  pause() {
    if (this.blocked) return;
    this.blocked = true;
    this.gone();
    setTimeout(() => {
      [this.blocked, this.failed] = [false, null];
      this.arrived();
    }, 2000);
  }

  evict() {
    for (const [key, block] of this.cache) {
      if (this.bytes <= MOST_BYTES) return;
      this.bytes -= block.bytes;
      this.cache.delete(key);
    }
  }

  idle() {
    return this.requests === 0 && this.wanted.size === 0;
  }

  /**
   * Returns the rows of a lane at a time, or null if there are too many.
   * @param {number} lane
   * @param {number} time
   * @param {number} slack
   * @returns {Promise<Block | null>}
   */
  async rowsAt(lane, time, slack) {
    if (this.source.embedded) {
      return (this.source.embedded.get(lane) || []).find((block) => block.isRows) || null;
    }
    const level = this.levelFor(Math.max(slack, 0));
    const bin = Math.floor((time - this.model.origin) / (this.model.tick * 2 ** level));
    const [block] = await this.source.tiles(level, Math.max(0, bin - 1), 3, 16384, [lane]);
    return block?.isRows ? block : null;
  }
}
