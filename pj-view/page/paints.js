// Colours of states and events in the picture: by value, by class of the value, by duration, or by a field.
import { colorNumber, OTHERS, valueOf } from "./model.js";
import { isLight, isNear, mix } from "./raster.js";
import { durationColor, textColor } from "./ramp.js";
/** @import { Block, Data } from "./types" */
/** @import { Fields } from "./fields.js" */
/** @import { State } from "./state.js" */

const GREY = 0xff888888;

/** Colours of classes of values. @type {Record<string, string>} */
const CLASSES = {
  compute: "#009e73", send: "#0072b2", recv: "#56b4e9", sendrecv: "#3f51b5", wait: "#d55e00", io: "#8c6d31", barrier: "#cc79a7", nxn: "#f0e442",
  "1xn": "#e69f00", nx1: "#a05a00", scan: "#7f3fa8",
};

/** Part of the background in the colour of a value that is not searched for. */
const FADED = 0.78;

export class Paints {
  /**
   * @param {Data} data
   * @param {State} state
   * @param {Fields} fields
   */
  constructor(data, state, fields) {
    this.data = data;
    this.state = state;
    this.fields = fields;
    /** Colour of the background. */
    this.back = 0xffffffff;
    /** @type {Map<number, { key: string, list: number[] }>} */
    this.kept = new Map();
  }

  /**
   * Called when names and colours of a type's values arrive.
   * @param {number} type
   */
  forget(type) {
    this.kept.delete(type);
  }

  /** Whether values have colours of their own. Otherwise, rows have. */
  get isByValue() {
    const { by } = this.state.color;
    return by === "value" || by === "class";
  }

  /**
   * Returns the colours of a type's values. While the user searches for a value, all other values fade.
   * @param {number} type
   */
  of(type) {
    const { back } = this;
    const { search, color } = this.state;
    const key = `${search?.type}:${search?.value}:${back}:${color.by}`;
    const kept = this.kept.get(type);
    if (kept?.key === key) return kept.list;
    const classes = color.by === "class" ? this.data.model.types[type].classes : undefined;
    const list = this.data.model.types[type].values.map((value, id) => {
      const own = classes ? classColor(classes[id] ?? "") : value.number;
      return this.faded(type, id, this.distinct(own));
    });
    this.kept.set(type, { key, list });
    return list;
  }

  /**
   * Returns the colour of a value, or grey while it is fetched.
   * @param {number} type
   * @param {number} value
   */
  one(type, value) {
    if (value === OTHERS) return GREY;
    return this.of(type)[value] ?? valueOf(this.data, type, value).number;
  }

  /**
   * Returns a function from rows of a block to colours.
   * @param {number} type
   * @param {Block} block
   * @returns {(i: number) => number}
   */
  rows(type, block) {
    const { by } = this.state.color;
    const { values } = block;
    if (by === "duration") return (i) => this.faded(type, values[i], this.duration(block.end[i] - block.start[i]));
    if (by === "field") {
      const texts = this.fields.of(block);
      return (i) => {
        const text = texts?.[i] ?? null;
        return this.faded(type, values[i], text === null ? GREY : textColor(text));
      };
    }
    const colors = this.of(type);
    return (i) => colors[values[i]] ?? this.one(type, values[i]);
  }

  /**
   * Returns the colour of a bin, if values have no colours: that of the mean duration.
   * @param {number} duration
   */
  bin(duration) {
    return this.state.color.by === "duration" ? this.duration(duration) : GREY;
  }

  /** @param {number} duration */
  duration(duration) {
    const [low, high] = this.data.model.extent;
    return this.distinct(durationColor(duration / (high - low)));
  }

  /**
   * @param {number} type
   * @param {number} value
   * @param {number} color
   */
  faded(type, value, color) {
    const { search } = this.state;
    return search && (search.type !== type || search.value !== value) ? mix(color, this.back, FADED) : color;
  }

  /**
   * Keeps a colour distinguishable from the background.
   * @param {number} color
   */
  distinct(color) {
    return isNear(color, this.back) ? mix(color, isLight(this.back) ? 0xff000000 : 0xffffffff, 0.13) : color;
  }
}

/**
 * Returns the colour of a class. Values without one are grey.
 * @param {string} name
 */
export const classColor = (name) => (CLASSES[name] ? colorNumber(CLASSES[name]) : GREY);
