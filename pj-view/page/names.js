// Names and colours of values that are not known from the beginning: where a type has many, they are asked for, in pages, when they are seen.
import { knownValue } from "./model.js";

// The program tells so many values at a time.
const PAGE = 1024;

// After a failure, the same page is asked for again so many milliseconds later.
const PATIENCE = 2000;

export class Names {
  constructor(source, model, arrived) {
    Object.assign(this, { source, model, arrived });
    this.asked = new Map();
    this.requests = 0;
  }

  // Asks for a value, unless that has been done.
  want(type, value) {
    const page = Math.floor(value / PAGE);
    const key = `${type}:${page}`;
    if (!this.asked.has(key)) this.asked.set(key, this.request(type, page, key));
    return this.asked.get(key);
  }

  // The value, once it is known.
  async known(type, value) {
    const { values } = this.model.types[type];
    if (!values[value]) await this.want(type, value);
    return values[value];
  }

  // The first value whose name is the text, or begins with it, or has it; null if there is none.
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
      const told = await this.source.values(type, page * PAGE);
      told.forEach((value, i) => {
        values[page * PAGE + i] = knownValue(value);
      });
      this.arrived(type);
    } catch {
      setTimeout(() => this.asked.delete(key), PATIENCE);
    }
    this.requests -= 1;
  }
}
