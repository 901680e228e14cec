// Adds what explains a run: overlays of waits and of the critical path, and panels of the verdict, waits, communication
// and durations. The analysis of waiting begins when one of them is first shown.
import { analysesOf } from "./analyses.js";
import { Communication } from "./communication.js";
import { addDurations } from "./durations.js";
import { pathOverlay } from "./path.js";
import { waitsOverlay } from "./waits.js";
import { addWhy } from "./why.js";
/** @import { Page } from "./types" */

/** @param {Page} page */
export function addExplanations(page) {
  const analyses = analysesOf(page.data);
  page.overlays.add(waitsOverlay(page, analyses));
  page.overlays.add(pathOverlay(page, analyses));
  addWhy(page, analyses);
  new Communication(page, analyses);
  addDurations(page, analyses);
}
