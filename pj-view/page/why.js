// Panels of the verdict, of wait states, and of the waits of the selected state.
import { button, el, quiet, swatch, table } from "./dom.js";
import { containerName, goToCause, goToWait } from "./waits.js";
/** @import { Details, Page, Row, Wait } from "./types" */
/** @import { Analyses } from "./analyses.js" */

/**
 * @param {Page} page
 * @param {Analyses} analyses
 */
export function addWhy(page, analyses) {
  const { panels } = page;
  panels.add({ id: "why", title: "Why is it slow?", open: false, after: [], update: () => verdict(analyses) });
  panels.add({ id: "waiting", title: "Wait states", open: false, after: [], update: () => waiting(page, analyses) });
  panels.add({ id: "cause", title: "Waits of the selection", open: false, after: ["selection"], update: (_, row) => ofSelection(page, analyses, row) });
}

/** @param {Analyses} analyses */
async function verdict(analyses) {
  const { rows, refused } = await analyses.verdict();
  if (refused) return [quiet(refused)];
  return rows.map(({ kind, name, share, text, next, whatif }) => {
    const part = share === null ? "" : `, ${(100 * share).toFixed(1)} % of the run`;
    const title = kind === "doubt" ? "Not certain" : `${name[0].toUpperCase()}${name.slice(1)}${part}`;
    const commands = [next, whatif].filter(Boolean).map((command) => el("code", {}, command));
    return el("div", { className: `reason ${kind}` }, el("h3", {}, title), el("p", {}, text), ...commands);
  });
}

/**
 * Lists the kinds of waits with their colours, and the longest waits.
 * @param {Page} page
 * @param {Analyses} analyses
 */
async function waiting(page, analyses) {
  const { kinds, colours, waits } = await analyses.overview();
  if (waits.refused) return [quiet(`No waiting can be shown: ${waits.refused}.`)];
  const { units } = page.data.model;
  const list = kinds.map((name, kind) => ({ name, colour: colours[kind], count: waits.sums[kind][0], seconds: waits.sums[kind][1] }));
  const rows = list.filter(({ count }) => count > 0).sort((a, b) => b.seconds - a.seconds);
  if (rows.length === 0) return [quiet("No process waits.")];
  const sums = rows.map(({ name, colour, count, seconds }) => [el("span", {}, swatch(colour), name), String(count), units.format(seconds)]);
  return [
    table("All waits", ["Kind", ["Count", "number"], ["Time", "number"]], sums),
    waitTable(page, "The longest waits", waits.longest),
  ];
}

/**
 * @param {Page} page
 * @param {string} caption
 * @param {Wait[]} waits
 */
function waitTable(page, caption, waits) {
  const { units } = page.data.model;
  const rows = waits.map((wait) => {
    const [waiter, whom] = [containerName(page, wait.lane), containerName(page, wait.whom)];
    const goes = button("go", "Go to the wait", () => goToWait(page, wait), waiter);
    const causes = button("go", "Go to its cause", () => goToCause(page, wait), whom);
    return [goes, causes, units.format(wait.end - wait.start)];
  });
  return table(caption, ["Waits", "For", ["Time", "number"]], rows);
}

/**
 * @param {Page} page
 * @param {Analyses} analyses
 * @param {Row | Details | null} row
 */
async function ofSelection(page, analyses, row) {
  if (!row) return [quiet("Select a state, to see what it waits for and who waits for it.")];
  const { kinds, waits: all } = await analyses.overview();
  if (all.refused) return [quiet(`No waiting can be shown: ${all.refused}.`)];
  const { waits = [], causes = [] } = await analyses.ofRow(row);
  if (waits.length + causes.length === 0) return [quiet("It does not wait, and ends no wait.")];
  const children = waits.map((wait) => quiet(`${kinds[wait.kind]}, ${page.data.model.units.format(wait.end - wait.start)}`));
  return [
    ...children,
    ...(waits.length > 0 ? [waitTable(page, "It waits", waits)] : []),
    ...(causes.length > 0 ? [waitTable(page, "It ends these waits", causes)] : []),
  ];
}
