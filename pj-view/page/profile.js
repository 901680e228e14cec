// Panel of the profile of the visible or the selected times.
import { el, pairs, quiet, swatch, table } from "./dom.js";
import { grouped, lifetimes, valueOf } from "./model.js";
/** @import { Data, Page, ProfileAnswer } from "./types" */

/** Maximum number of listed values of each type. */
const MOST = 25;

const SHARE = "Share of the lifetime of all containers with such states, including nested states";

/** Fetches and shows the profile, and keeps the last one. */
export class Profile {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {ProfileAnswer | null} */
    this.last = null;
    page.panels.add({ id: "profile", title: "Profile", after: ["window", "layout"], update: (window) => this.update(window) });
  }

  /** @param {[number, number]} window */
  async update([from, to]) {
    const { data, state } = this.page;
    const { last } = this;
    if (!last || last.from !== from || last.to !== to) {
      const profile = await data.source.profile(from, to).catch(() => null);
      if (!profile) return null;
      this.last = profile;
    }
    return this.last && contents(data, state.range !== null, this.last);
  }
}

/**
 * @param {string} color
 * @param {number} part
 */
function meter(color, part) {
  const bar = el("div", { className: "meter", color, "aria-hidden": "true" });
  bar.style.width = `${Math.max(part * 100, 1)}%`;
  return bar;
}

/**
 * @param {Data} data
 * @param {boolean} isRange
 * @param {ProfileAnswer} profile
 */
function contents(data, isRange, profile) {
  const { model } = data;
  const { units } = model;
  const digits = Math.max(0, Math.ceil(3 - Math.log10((profile.to - profile.from) / units.second || 1)));
  /** @param {number} time */
  const shown = (time) => (Math.min(Math.max(time, model.extent[0]), model.extent[1]) / units.second).toFixed(Math.min(digits, 15));
  const where = `${isRange ? "Selected range" : "On the screen"}${profile.isAbout ? ", about" : ""}`;
  const children = [quiet(`${where}: ${shown(profile.from)} s to ${shown(profile.to)} s`), quiet(model.unit)];
  for (const [type, list] of grouped(profile.states, (state) => state[0])) {
    list.sort((a, b) => b[2] - a[2]);
    const all = lifetimes(model, type, profile.from, profile.to);
    const rows = list.filter(([, , seconds]) => seconds > 0).slice(0, MOST).map(([, id, seconds]) => {
      const value = valueOf(data, type, id);
      const part = seconds / Math.max(all, seconds);
      return [el("div", {}, swatch(value.color), value.name, meter(value.color, part)), units.format(seconds), `${(100 * part).toFixed(1)} %`];
    });
    const made = table(model.types[type].name, ["Value", ["Time", "number"], ["Share", "number share"]], rows);
    made.title = SHARE;
    children.push(made);
  }
  if (profile.events.length > 0) children.push(quiet("Events"), pairs(mostEvents(data, profile), "number"));
  if (profile.links > 0) {
    /** @param {number} id */
    const name = (id) => model.containers.get(id)?.name || "?";
    children.push(quiet(`${profile.links} links begin here`), pairs(profile.pairs.map(([, from, to, count]) => [`${name(from)} → ${name(to)}`, String(count)]), "number"));
  }
  return children;
}

/**
 * Lists the most frequent events, and the number of others.
 * @param {Data} data
 * @param {ProfileAnswer} profile
 * @returns {[string, string][]}
 */
function mostEvents(data, profile) {
  const events = profile.events.toSorted((a, b) => b[2] - a[2]);
  /** @type {[string, string][]} */
  const first = events.slice(0, MOST).map(([type, id, count]) => [`${data.model.types[type].name}: ${valueOf(data, type, id).name}`, String(count)]);
  let [others, sum] = profile.otherEvents || [0, 0];
  others += events.length - first.length;
  for (const [, , count] of events.slice(MOST)) sum += count;
  return others > 0 ? [...first, [`${others} others`, String(sum)]] : first;
}
