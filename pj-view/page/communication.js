// Panel of communication: who sends how much to whom in the visible or selected times, and the messages of a pair.
import { button, el, quiet, table } from "./dom.js";
import { valueOf, laneOf } from "./model.js";
/** @import { Interval, MatrixAnswer, MessagesAsked, Page } from "./types" */
/** @import { Analyses } from "./analyses.js" */

/** Number of listed pairs, and of messages in a page. */
const MOST_PAIRS = 12;
const PAGE = 20;

/** Width of the matrix in CSS pixels, and the largest width of a cell. */
const WIDTH = 288;
const CELL = 24;

/** @typedef {"count" | "bytes" | "time"} Measure */
/** @type {Record<Measure, 2 | 3 | 4>} */
const COLUMNS = { count: 2, bytes: 3, time: 4 };

/** @param {number | null} bytes */
export function size(bytes) {
  if (bytes === null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  const at = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${Number((bytes / 1000 ** at).toPrecision(3))} ${units[at]}`;
}

export class Communication {
  /**
   * @param {Page} page
   * @param {Analyses} analyses
   */
  constructor(page, analyses) {
    this.page = page;
    this.analyses = analyses;
    /** @type {Measure} */
    this.measure = "count";
    /** Listed messages. @type {MessagesAsked | null} */
    this.which = null;
    /** @type {Interval | null} */
    this.window = null;
    page.panels.add({ id: "communication", title: "Communication", open: false, after: ["window"], update: (window) => this.update(window) });
  }

  /** @param {Interval} window */
  async update(window) {
    if (this.window && (this.window[0] !== window[0] || this.window[1] !== window[1])) this.which = null;
    this.window = window;
    const matrix = await this.analyses.matrix(window);
    if (matrix.count === 0) return [quiet("No messages in these times.")];
    if (this.measure === "bytes" && matrix.noBytes) this.measure = "count";
    return [this.choice(matrix), this.picture(matrix), this.pairs(matrix), ...(await this.messages())];
  }

  again() {
    this.page.panels.update("communication");
  }

  /** @param {MatrixAnswer} matrix */
  choice(matrix) {
    const all = /** @type {[Measure, string][]} */ ([["count", "messages"], ["bytes", "bytes"], ["time", "time between start and end"]]);
    const options = all.map(([value, text]) => el("option", { value, selected: value === this.measure, disabled: value === "bytes" && matrix.noBytes !== null }, text));
    const select = /** @type {HTMLSelectElement} */ (el("select", { id: "measure" }, ...options));
    select.addEventListener("change", () => {
      this.measure = /** @type {Measure} */ (select.value);
      this.again();
    });
    return el("div", {}, el("label", {}, "Show ", select), matrix.noBytes ? quiet(matrix.noBytes) : null);
  }

  /** @param {number} id */
  name(id) {
    return this.page.data.model.containers.get(id)?.name || "?";
  }

  /** @param {MatrixAnswer["pairs"][0]} pair */
  text(pair) {
    const amount = pair[COLUMNS[this.measure]];
    if (this.measure === "bytes") return size(amount);
    return this.measure === "time" ? this.page.data.model.units.format(amount ?? 0) : String(amount);
  }

  /**
   * Draws a square for each pair: senders from top to bottom, receivers from left to right. The table below it has the
   * same for screen readers.
   * @param {MatrixAnswer} matrix
   */
  picture(matrix) {
    const used = new Set(matrix.pairs.flatMap(([from, to]) => [from, to]));
    const ends = [...this.page.data.model.containers.keys()].filter((id) => used.has(id));
    const places = new Map(ends.map((id, i) => [id, i]));
    const cell = Math.min(CELL, WIDTH / ends.length);
    const side = Math.ceil(cell * ends.length);
    const ratio = window.devicePixelRatio || 1;
    const canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { id: "matrix", width: Math.ceil(side * ratio), height: Math.ceil(side * ratio), "aria-hidden": "true" }));
    canvas.style.width = `${side}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const style = getComputedStyle(document.documentElement);
    context.scale(ratio, ratio);
    context.fillStyle = style.getPropertyValue("--field");
    context.fillRect(0, 0, side, side);
    context.fillStyle = style.getPropertyValue("--accent");
    const column = COLUMNS[this.measure];
    const most = Math.max(...matrix.pairs.map((pair) => pair[column] ?? 0));
    /** @type {Map<string, MatrixAnswer["pairs"][0]>} */
    const byPlace = new Map();
    for (const pair of matrix.pairs) {
      const [row, at] = [places.get(pair[0]) ?? 0, places.get(pair[1]) ?? 0];
      byPlace.set(`${row} ${at}`, pair);
      context.globalAlpha = 0.15 + 0.85 * Math.sqrt(Math.max(pair[column] ?? 0, 0) / (most || 1));
      context.fillRect(at * cell, row * cell, Math.max(cell - 0.5, 0.5), Math.max(cell - 0.5, 0.5));
    }
    /** @param {MouseEvent} event */
    const pairAt = ({ offsetX, offsetY }) => byPlace.get(`${Math.floor(offsetY / cell)} ${Math.floor(offsetX / cell)}`);
    canvas.addEventListener("mousemove", (event) => {
      const pair = pairAt(event);
      canvas.title = pair ? `${this.name(pair[0])} → ${this.name(pair[1])}: ${this.text(pair)}` : "";
    });
    canvas.addEventListener("click", (event) => {
      const pair = pairAt(event);
      if (pair) this.list(pair[0], pair[1]);
    });
    return canvas;
  }

  /** @param {MatrixAnswer} matrix */
  pairs(matrix) {
    const column = COLUMNS[this.measure];
    const all = matrix.pairs.toSorted((a, b) => (b[column] ?? 0) - (a[column] ?? 0));
    const rows = all.slice(0, MOST_PAIRS).map((pair) => {
      const open = button("go", "List these messages", () => this.list(pair[0], pair[1]), `${this.name(pair[0])} → ${this.name(pair[1])}`);
      return [open, this.text(pair)];
    });
    const more = all.length - rows.length + matrix.omitted;
    const made = table("Pairs with most", ["From → to", ["", "number"]], rows);
    return el("div", {}, made, more > 0 ? quiet(`and ${more} more pairs`) : null);
  }

  /**
   * Lists the messages of a pair.
   * @param {number} origin
   * @param {number} goal
   */
  list(origin, goal) {
    if (!this.window) return;
    this.which = { window: this.window, origin, goal, order: "start", first: 0, count: PAGE };
    this.again();
  }

  async messages() {
    const { which } = this;
    if (!which) return [];
    const { total, first, messages } = await this.analyses.messages(which);
    const { data, navigator } = this.page;
    const { units } = data.model;
    const rows = messages.map((it) => {
      const go = button("go", "Select this message", () => navigator.jump(it), units.format(it.start));
      return [go, valueOf(data, laneOf(data.model, it.lane).type, it.value ?? 0).name, it.bytes === null ? units.format(it.end - it.start) : `${units.format(it.end - it.start)}, ${size(it.bytes)}`];
    });
    const caption = `${total} messages ${this.name(which.origin ?? 0)} → ${this.name(which.goal ?? 0)}`;
    const made = table(caption, ["Start", "Value", ["Lasts", "number wide"]], rows);
    made.id = "messages";
    /** @type {(text: string, change: Partial<MessagesAsked>) => HTMLElement} */
    const go = (text, change) => button("", text, () => {
      this.which = { ...which, ...change };
      this.again();
    }, text);
    const other = which.order === "start" ? go("Longest first", { order: "longest", first: 0 }) : go("In order of time", { order: "start", first: 0 });
    const before = first > 0 ? go("Before", { first: first - PAGE }) : null;
    const next = first + PAGE < total ? go("Next", { first: first + PAGE }) : null;
    return [made, el("div", { className: "row" }, other, before, next)];
  }
}
