// Fetches names and colours of values in pages when they are seen, for types with many values.
import { knownValue } from "./model.js";

// Number of values per page (VALUES in model.rs).
const PAGE = 1024;

// Milliseconds until a failed request is repeated.
const PATIENCE = 2000;

export class Names {
  constructor(source, model, arrived) {
    Object.assign(this, { source, model, arrived });
    this.asked = new Map();
    this.requests = 0;
  }

  // Requests a value once.
  want(type, value) {
    const page = Math.floor(value / PAGE);
    const key = `${type}:${page}`;
    if (!this.asked.has(key)) this.asked.set(key, this.request(type, page, key));
    return this.asked.get(key);
  }

  // Returns a value once it is known.
  async known(type, value) {
    const { values } = this.model.types[type];
    if (!values[value]) await this.want(type, value);
    return values[value];
  }

  // Finds the first value whose name equals, begins with or contains a text. Returns null if there
  // is none.
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
