// Colours of values in the picture.
import { OTHERS, valueOf } from "./model.js";
import { isLight, isNear, mix } from "./raster.js";
/** @import { Data } from "./types" */
/** @import { State } from "./state.js" */

const OTHER_GREY = 0xff888888;

export class Paints {
  /**
   * @param {Pick<Data, "model" | "names">} data
   * @param {State} state
   */
  constructor(data, state) {
    this.data = data;
    this.state = state;
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

  /**
   * Returns the colours of a type's values. While the user searches for a value, all other values fade.
   * @param {number} type
   */
  of(type) {
    const { back } = this;
    const { search } = this.state;
    const key = `${search?.type}:${search?.value}:${back}`;
    const kept = this.kept.get(type);
    if (kept?.key === key) return kept.list;
    const list = this.data.model.types[type].values.map((value, id) => {
      const fades = search && !(search.type === type && search.value === id);
      const seen = this.distinct(value.number);
      return fades ? mix(seen, back, 0.78) : seen;
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
    if (value === OTHERS) return OTHER_GREY;
    return this.of(type)[value] ?? valueOf(this.data, type, value).number;
  }

  /**
   * Keeps a colour distinguishable from the background.
   * @param {number} color
   */
  distinct(color) {
    return isNear(color, this.back) ? mix(color, isLight(this.back) ? 0xff000000 : 0xffffffff, 0.13) : color;
  }
}
