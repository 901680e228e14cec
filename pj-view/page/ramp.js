// Scales of colours: for durations and for texts. People with any kind of colour vision can tell the steps of the scale
// for durations apart, also by brightness.
import { colorNumber } from "./model.js";
import { mix } from "./raster.js";

const STEPS = ["#440154", "#443a83", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725"].map(colorNumber);

/** Number of decades below the length of the trace that have different colours. */
export const DECADES = STEPS.length - 1;

/**
 * Returns the colour of a part of the trace's length, on a logarithmic scale.
 * @param {number} part
 */
export function durationColor(part) {
  const at = Math.max(0, Math.min(DECADES, DECADES + Math.log10(Math.max(part, Number.MIN_VALUE))));
  const low = Math.min(Math.floor(at), DECADES - 1);
  return mix(STEPS[low], STEPS[low + 1], at - low);
}

/**
 * Returns the colour of a text. It is the same in all traces.
 * @param {string} text
 */
export function textColor(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
  const hue = (hash * 0.618034) % 1;
  const light = 0.42 + ((hash >>> 16) % 3) * 0.13;
  const chroma = Math.min(light, 1 - light) * 0.75;
  /** @param {number} of */
  const channel = (of) => {
    const at = (of + hue * 12) % 12;
    return Math.round(255 * (light - chroma * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return (0xff000000 | (channel(4) << 16) | (channel(8) << 8) | channel(0)) >>> 0;
}

/**
 * Returns a pixel's colour as CSS writes it.
 * @param {number} color
 */
export function cssColor(color) {
  return `rgb(${color & 0xff} ${(color >>> 8) & 0xff} ${(color >>> 16) & 0xff})`;
}
