// Moves about in the trace: selects rows, follows links, steps through hits.
import { laneOf, pathOf, valueOf } from "./model.js";
/** @import { Data, Interval, LinkAnswer, Row, TypedValue } from "./types" */
/** @import { Address } from "./address.js" */
/** @import { Live } from "./live.js" */
/** @import { Scene } from "./scene.js" */
/** @import { State } from "./state.js" */
/** @import { Viewport } from "./viewport.js" */

/** Lane after all lanes, for a search backwards. */
const AFTER_ALL = 0xffffffff;

export class Navigator {
  /**
   * @param {{ data: Data, state: State, viewport: Viewport, scene: Scene, live: Live, address: Address }} parts
   */
  constructor({ data, state, viewport, scene, live, address }) {
    this.data = data;
    this.state = state;
    this.viewport = viewport;
    this.scene = scene;
    this.live = live;
    this.address = address;
    this.waiting = 0;
  }

  /**
   * Selects a row, or nothing.
   * @param {Row | null} row
   */
  async select(row) {
    this.address.leave();
    await this.show(row);
    this.announce();
  }

  /**
   * Selects a row without a step in the browser's history.
   * @param {{ lane: number, row: number } | null} row
   */
  async show(row) {
    const { state } = this;
    this.waiting += 1;
    const details = row && (await this.data.source.row(row.lane, row.row).catch(() => null));
    this.waiting -= 1;
    state.selected = details ? { ...row, ...details } : /** @type {Row | null} */ (row);
    state.links = details?.links || null;
    state.changed("selection");
  }

  /** Tells screen readers what is selected. */
  announce() {
    const { selected } = this.state;
    if (!selected) return;
    const { model } = this.data;
    const { units } = model;
    const lane = laneOf(model, selected.lane);
    const value = lane.nature === "variable" ? `${model.types[lane.type].name} ${selected.height}` : valueOf(this.data, lane.type, selected.value ?? 0).name;
    const lasts = selected.end > selected.start ? `, ${units.format(selected.end - selected.start)}` : "";
    this.live.say(`${value}${lasts}, at ${units.format(selected.start, this.viewport.span)}, in ${pathOf(model, lane.container)}`);
  }

  /**
   * Shows the other end of a link, and selects the state there.
   * @param {LinkAnswer} link
   * @param {boolean} leaves Whether the selected state is at the link's start.
   */
  async follow(link, leaves) {
    const time = leaves ? link.end : link.start;
    if (link.other) {
      const [lane, row] = link.other;
      await this.jump({ lane, row, start: time, end: time });
      return;
    }
    this.address.leave();
    this.viewport.reveal(time, time);
    this.viewport.scrollTo(this.scene.layout.places.get(leaves ? link.to : link.from));
    this.state.changed("window");
    this.live.say(`At the other end of the link, at ${this.data.model.units.format(time, this.viewport.span)}`);
  }

  /**
   * Scrolls to a row, and selects it.
   * @param {Row} row
   */
  async jump(row) {
    this.address.leave();
    this.reveal(row);
    await this.show(row);
    this.announce();
  }

  /**
   * Scrolls to a row without selecting it.
   * @param {Row} row
   */
  reveal(row) {
    this.viewport.reveal(row.start, row.end);
    this.viewport.scrollTo(this.scene.layout.byLane.get(row.lane)?.top);
    this.state.changed("window");
  }

  /**
   * Searches for a value, or for none.
   * @param {TypedValue | null} found
   */
  search(found) {
    this.address.leave();
    this.state.search = found;
    this.state.place = null;
    this.state.changed("search");
  }

  /**
   * Goes to the next row of the value that is searched for, or to the previous one.
   * @param {boolean} back
   */
  async step(back) {
    const { state, viewport } = this;
    const { search } = state;
    if (!search) return;
    const here = state.place || { start: viewport.from, lane: back ? AFTER_ALL : 0, row: 0 };
    this.waiting += 1;
    const found = await this.data.source.find(search.type, search.value, { time: here.start, lane: here.lane, row: here.row }, back).catch(() => null);
    this.waiting -= 1;
    if (!found) return;
    state.place = found;
    await this.data.names.known(search.type, search.value);
    await this.jump({ ...found, value: search.value });
  }

  /** @param {number} time */
  goTo(time) {
    const { span } = this.viewport;
    this.showWindow([time - span / 2, time + span / 2]);
  }

  fit() {
    this.address.leave();
    this.viewport.fit();
    this.state.changed("window");
  }

  /** Fits the selected row, or the selected range. */
  fitSelected() {
    const { selected, range } = this.state;
    this.address.leave();
    if (selected) this.viewport.around(selected.start, selected.end);
    else if (range) this.viewport.show(...range);
    this.state.changed("window");
  }

  /** @param {Interval} window */
  showWindow([from, to]) {
    this.address.leave();
    this.viewport.show(from, to);
    this.state.changed("window");
  }

  /** Selects nothing, neither times nor a row nor a value. */
  clear() {
    this.search(null);
    this.state.range = null;
    this.state.changed("window");
    this.show(null);
  }

  idle() {
    return this.waiting === 0;
  }
}
