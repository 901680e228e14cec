// Fetches a user-defined field of the rows on the screen, for their colours.
/** @import { Block, Source } from "./types" */

const AT_ONCE = 4;

/** Maximum number of rows in a request (MOST_ROWS in answer.rs). */
const MOST_ROWS = 1024;

/** Maximum number of texts that are kept for the legend. */
const MOST_TEXTS = 40;

export class Fields {
  /**
   * @param {Source} source
   * @param {() => void} arrived
   */
  constructor(source, arrived) {
    this.source = source;
    this.arrived = arrived;
    this.name = "";
    /** @type {WeakMap<Block, (string | null)[]>} */
    this.known = new WeakMap();
    /** @type {Set<Block>} */
    this.flying = new Set();
    /** Texts that have been seen. @type {Set<string>} */
    this.texts = new Set();
  }

  /** @param {string} name */
  choose(name) {
    if (name === this.name) return;
    this.name = name;
    this.known = new WeakMap();
    this.texts.clear();
  }

  /**
   * Returns the field of each row of a block, or null until it arrives.
   * @param {Block} block
   */
  of(block) {
    const known = this.known.get(block);
    if (known) return known;
    if (this.flying.size < AT_ONCE && !this.flying.has(block) && block.n <= MOST_ROWS) this.request(block);
    return null;
  }

  /** @param {Block} block */
  async request(block) {
    const { name } = this;
    this.flying.add(block);
    const found = block.n === 0 ? [] : await this.source.fields(block.lane, name, [...block.number]).catch(() => null);
    this.flying.delete(block);
    if (name === this.name) {
      const texts = found || Array(block.n).fill(null);
      this.known.set(block, texts);
      for (const text of texts) {
        if (text !== null && this.texts.size < MOST_TEXTS) this.texts.add(text);
      }
    }
    this.arrived();
  }

  idle() {
    return this.flying.size === 0;
  }
}
