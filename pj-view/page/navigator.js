// Moves about in the trace: selects rows, follows links, steps through hits.
import { rowOf } from "./hit.js";
import { containerOf, laneOf, pathOf, valueOf } from "./model.js";
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
    if (found === null && this.state.query?.within === "value") this.state.query = null;
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

  /**
   * Goes to the next or previous row of the lane of the selected row or, if the cursor is elsewhere, of the lane at the
   * cursor. There, it begins with the first row on the screen.
   * @param {number} by
   */
  async stepRow(by) {
    const { state, data, live } = this;
    const { selected } = state;
    const at = selected && laneOf(data.model, selected.lane);
    if (selected && at && (state.cursor === null || (state.cursorLane === null ? at.container === state.cursor : at.id === state.cursorLane))) {
      const row = selected.row + by;
      if (row < 0 || row >= at.rows) live.say(by < 0 ? "First row" : "Last row");
      else await this.jumpTo(at.id, row);
      return;
    }
    const lane = state.cursorLane ?? this.firstLane();
    if (lane === undefined) {
      live.say("J and K choose a lane");
      return;
    }
    const first = await this.firstRow(lane);
    if (first) await this.jump(first);
    else live.say("No rows on the screen, or too many");
  }

  /**
   * @param {number} lane
   * @param {number} row
   */
  async jumpTo(lane, row) {
    const found = await this.data.source.row(lane, row).catch(() => null);
    if (found) await this.jump(found);
    else this.live.say("This row is not in the file");
  }

  /** Returns the first lane of the container at the cursor, or on the screen. */
  firstLane() {
    const { cursor } = this.state;
    const { lines } = this.scene.layout;
    return lines.find((line) => line.lane && (cursor === null ? line.top + line.height > this.viewport.scroll : line.container === cursor))?.lane?.id;
  }

  /**
   * Returns the first row of a lane on the screen.
   * @param {number} lane
   */
  async firstRow(lane) {
    const { viewport, data } = this;
    const { from, to, span } = viewport;
    for (let part = 1; part <= 4096; part *= 8) {
      const block = await data.tiles.rowsAt(lane, from + span / part / 2, span / part / 2);
      if (!block) continue;
      let first = -1;
      for (let i = 0; i < block.n; i++) {
        if (block.end[i] >= from && block.start[i] <= to && (first < 0 || block.start[i] < block.start[first])) first = i;
      }
      if (first >= 0) return rowOf(block, lane, first);
    }
    return null;
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

  /**
   * Moves the cursor to a container, and shows it. Unfolds the containers around it.
   * @param {number} id
   */
  goToContainer(id) {
    const { state, data, scene, viewport } = this;
    this.address.leave();
    for (let at = containerOf(data.model, id).parent; ; at = containerOf(data.model, at).parent) {
      state.folded.delete(at);
      if (at === 0) break;
    }
    state.cursor = id;
    state.cursorLane = null;
    state.changed("layout");
    viewport.scrollTo(scene.layout.lines.find((line) => line.container === id)?.top);
    state.changed("window");
    this.live.say(pathOf(data.model, id));
  }

  /** Selects nothing, neither times nor a row nor a value. */
  clear() {
    this.state.query = null;
    this.search(null);
    this.state.range = null;
    this.state.changed("window");
    this.show(null);
  }

  idle() {
    return this.waiting === 0;
  }
}
