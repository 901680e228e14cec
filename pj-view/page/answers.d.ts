// Shapes of answers of the program.

import type { Nature, Interval, Lane, ProfileAnswer, Row, Details } from "./types";

/** Answer `model` of the program (model.rs). */
export interface ModelAnswer {
  name: string;
  version: string;
  origin: number;
  tick: number;
  second: number;
  unit: string;
  extent: Interval;
  window: Interval;
  fields: boolean;
  /** Overlays that are shown first. */
  overlays?: string[];
  types: { name: string; nature: Nature; parent: number; color: string; values: ValueAnswer[]; count: number }[];
  containers: { id: number[]; name: string[]; type: number[]; parent: number[]; start: number[]; end: number[] };
  lanes: { id: number[]; container: number[]; type: number[]; rows: number[]; depth: number[]; min: number[]; max: number[] };
  profile?: ProfileAnswer;
  classes?: ClassesAnswer;
  /** Answers of the same names, which only an HTML file has. */
  explained?: Overview;
  verdict?: VerdictAnswer;
  matrix?: MatrixAnswer;
}

/** Answer `explained` (explain/answers.rs). */
export interface Overview {
  state: string;
  kinds: string[];
  colours: string[];
  pathColour: string;
  waits: { refused?: string; sums: [count: number, seconds: number][]; longest: Wait[] };
  path: { refused?: string; parts: number };
}

/** A wait: its row, and the row that ends it. */
export interface Wait {
  lane: number;
  row: number;
  kind: number;
  start: number;
  end: number;
  /** Lane that is waited for. */
  whom: number;
  /** Row of that lane which ends the wait. */
  release: number | null;
  /** End of the wait on the clock of that lane. */
  released: number;
}

/** Answer `verdict`: causes, facts and doubts. */
export interface VerdictAnswer {
  refused?: string;
  rows: { kind: string; name: string; share: number | null; text: string; next: string; whatif: string }[];
}

/** Answer `matrix` (comm.rs). */
export interface MatrixAnswer {
  from: number;
  to: number;
  count: number;
  omitted: number;
  noBytes: string | null;
  pairs: [from: number, to: number, count: number, bytes: number | null, time: number][];
}

/** Answer `messages`. */
export interface MessagesAnswer {
  total: number;
  first: number;
  messages: (Details & { bytes: number | null })[];
}

/** Answer `histogram` (histogram.rs). */
export interface HistogramAnswer {
  count: number;
  zero: number;
  mean: number | null;
  median: number | null;
  high: number | null;
  max: number | null;
  isExact: boolean;
  edges: number[];
  counts: number[];
  longest: [lane: number, row: number, duration: number][];
}

/** Which messages are listed. */
export interface MessagesAsked {
  window: Interval;
  origin: number | null;
  goal: number | null;
  order: "start" | "longest";
  first: number;
  count: number;
}

/** Classes of values by number, for types with classes. */
export type ClassesAnswer = [type: number, names: string[]][];

export type ValueAnswer = [name: string, color: string, own: boolean];
