// Fetches names and colours of values when they are seen. Types with many values are fetched
// in pages.
import { knownValue } from "./model.js";
/** @import { Model, Source, TypedValue, Value } from "./types" */

/** Number of values per page (VALUES in model.rs). */
const PAGE = 1024;

/** Milliseconds after which a failed request is repeated. */
const PATIENCE = 2000;

export class Names {
  /**
   * @param {Source} source
   * @param {Model} model
   * @param {(type: number) => void} arrived
   */
  constructor(source, model, arrived) {
    this.source = source;
    this.model = model;
    this.arrived = arrived;
    /** @type {Map<string, Promise<void>>} */
    this.asked = new Map();
    this.requests = 0;
  }

  /**
   * Requests a value, unless it has been requested before.
   * @param {number} type
   * @param {number} value
   */
  want(type, value) {
    const page = Math.floor(value / PAGE);
    const key = `${type}:${page}`;
    const before = this.asked.get(key);
    if (before) return before;
    const request = this.request(type, page, key);
    this.asked.set(key, request);
    return request;
  }

  /**
   * Returns a value, after waiting for it if necessary.
   * @param {number} type
   * @param {number} value
   * @returns {Promise<Value | undefined>}
   */
  async known(type, value) {
    const { values } = this.model.types[type];
    if (!values[value]) await this.want(type, value);
    return values[value];
  }

  /**
   * Returns the first value whose name equals, begins with or contains a text, or null if there is no such value.
   * @param {string} text
   * @returns {Promise<TypedValue | null>}
   */
  async find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    this.requests += 1;
    const found = await this.source.value(wanted).catch(() => null);
    this.requests -= 1;
    return found;
  }

  idle() {
    return this.requests === 0;
  }

  /**
   * @param {number} type
   * @param {number} page
   * @param {string} key
   */
  async request(type, page, key) {
    this.requests += 1;
    try {
      const { values } = this.model.types[type];
      const answer = await this.source.values(type, page * PAGE);
      answer.forEach((value, i) => {
        values[page * PAGE + i] = knownValue(value);
      });
      this.arrived(type);
    } catch {
      setTimeout(() => this.asked.delete(key), PATIENCE);
    }
    this.requests -= 1;
  }
}
