// Panel of a histogram: how long the states of the searched or selected value last in the visible or selected times, and
// the longest of them.
import { button, el, pairs, quiet, table } from "./dom.js";
import { laneOf } from "./model.js";
import { containerName } from "./waits.js";
/** @import { HistogramAnswer, Interval, Page, TypedValue } from "./types" */
/** @import { Analyses } from "./analyses.js" */

const HEIGHT = 90;
const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {Page} page
 * @param {Analyses} analyses
 */
export function addDurations(page, analyses) {
  page.panels.add({
    id: "durations", title: "Durations", open: false, after: ["window", "search", "selection"],
    update: (window) => update(page, analyses, window),
  });
}

/**
 * Returns the value that is searched for, or else that of the selected row.
 * @param {Page} page
 * @returns {TypedValue | null}
 */
function chosen({ state, data }) {
  if (state.search) return state.search;
  const { selected } = state;
  if (!selected) return null;
  const lane = laneOf(data.model, selected.lane);
  return lane.nature === "state" || lane.nature === "link" ? { type: lane.type, value: selected.value ?? 0 } : null;
}

/**
 * @param {Page} page
 * @param {Analyses} analyses
 * @param {Interval} window
 */
async function update(page, analyses, window) {
  const value = chosen(page);
  if (!value) return [quiet("Search a value, or select a state.")];
  const [found, known] = await Promise.all([analyses.histogram(value, window), page.data.names.known(value.type, value.value)]);
  const name = known?.name || "?";
  if (found.count === 0) return [quiet(`${name} does not begin in these times.`)];
  const { units } = page.data.model;
  /** @param {number | null} time */
  const shown = (time) => (time === null ? null : units.format(time));
  /** @type {[string, string | null][]} */
  const facts = [
    ["Begin here", String(found.count)], ["Without duration", found.zero > 0 ? String(found.zero) : null], ["Mean", shown(found.mean)],
    [found.isExact ? "Median" : "Median, about", shown(found.median)], [found.isExact ? "95 % last at most" : "95 % last at most about", shown(found.high)],
    ["Longest", shown(found.max)],
  ];
  const rows = found.longest.map(([lane, row, duration]) => {
    const go = button("go", "Go to it", () => goTo(page, lane, row), containerName(page, lane));
    return [go, units.format(duration)];
  });
  return [quiet(name), ...picture(found, units), pairs(facts, "number"), table("The longest", ["Container", ["Lasts", "number"]], rows)];
}

/**
 * @param {Page} page
 * @param {number} lane
 * @param {number} row
 */
async function goTo({ data, navigator }, lane, row) {
  const found = await data.source.row(lane, row);
  if (found) await navigator.jump(found);
}

/**
 * Draws the counts. The axis is logarithmic, as outliers may last a thousand times longer.
 * @param {HistogramAnswer} found
 * @param {import("./units.js").Units} units
 */
function picture({ edges, counts }, units) {
  if (counts.length === 0) return [];
  const most = Math.max(...counts);
  /** @param {number} time */
  const about = (time) => units.format(Number(time.toPrecision(3)));
  const bars = counts.map((count, i) => {
    const bar = document.createElementNS(NAMESPACE, "rect");
    const height = count > 0 ? Math.max((count / most) * HEIGHT, 1.5) : 0;
    const title = document.createElementNS(NAMESPACE, "title");
    title.textContent = `${count} last ${about(edges[i])} to ${about(edges[i + 1])}`;
    for (const [name, number] of Object.entries({ x: i, y: HEIGHT - height, width: 0.9, height })) bar.setAttribute(name, String(number));
    bar.append(title);
    return bar;
  });
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${counts.length} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "histogram");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Durations from ${about(edges[0])} to ${about(edges[edges.length - 1])}`);
  svg.append(...bars);
  const ends = el("div", { className: "ends" }, el("span", {}, about(edges[0])), el("span", {}, about(edges[edges.length - 1])));
  return [svg, ends];
}
