// Shapes that several modules share. `tsc` checks the modules against them; browsers never load this file.

import type { ModelAnswer, Overview, Wait, VerdictAnswer, MatrixAnswer, ClassesAnswer, ValueAnswer } from "./answers";
import type { Names } from "./names.js";
import type { Overlays } from "./overlays.js";
import type { Panels } from "./panels.js";
import type { Live } from "./live.js";
import type { Navigator } from "./navigator.js";
import type { Scene } from "./scene.js";
import type { State } from "./state.js";
import type { Tiles } from "./tiles.js";
import type { Units } from "./units.js";
import type { Viewport } from "./viewport.js";

export * from "./answers";

export type Nature = "state" | "event" | "variable" | "link" | "container";

/** Two times, the earlier one first. All times are in the trace's unit of time. */
export type Interval = [number, number];

export interface Value {
  name: string;
  color: string;
  /** Whether the trace defines the colour. */
  own?: boolean;
  /** The colour as a pixel. */
  number: number;
}

export interface Type {
  id: number;
  name: string;
  nature: Nature;
  parent: number;
  color: string;
  number: number;
  /** Values by number. Those that have not been fetched are missing. */
  values: Value[];
  count: number;
  /** Classes of values by number, once they are known. */
  classes?: string[];
  /** Whether a shown lane has this type. */
  used: boolean;
}

export interface Lane {
  id: number;
  container: number;
  type: number;
  nature: Nature;
  rows: number;
  depth: number;
  min: number;
  max: number;
}

export interface Container {
  id: number;
  name: string;
  type: number;
  parent: number;
  start: number;
  end: number;
  children: number[];
  lanes: Lane[];
  hasStates?: boolean;
}

export interface Model {
  name: string;
  origin: number;
  tick: number;
  unit: string;
  extent: Interval;
  window: Interval;
  fields: boolean;
  overlays?: string[];
  explained?: Overview;
  verdict?: VerdictAnswer;
  matrix?: MatrixAnswer;
  types: Type[];
  containers: Map<number, Container>;
  lanes: Map<number, Lane>;
  units: Units;
}

export interface ProfileAnswer {
  from: number;
  to: number;
  isAbout?: boolean;
  states: [type: number, value: number, seconds: number][];
  events: [type: number, value: number, count: number][];
  otherEvents?: [values: number, sum: number];
  links: number;
  pairs: [type: number, from: number, to: number, count: number][];
}

/** Rows or bins of a lane, as tiles.rs writes them. The kind decides which arrays there are. */
export interface Block {
  lane: number;
  kind: number;
  level: number;
  n: number;
  m: number;
  first: number;
  bytes: number;
  isRows: boolean;
  start: Float64Array;
  end: Float64Array;
  height: Float64Array;
  number: Float64Array;
  values: Uint32Array;
  others: Uint32Array;
  goals: Uint32Array;
  min: Float64Array;
  max: Float64Array;
  mean: Float64Array;
  ends: Uint32Array;
  starts: Uint32Array;
  amounts: Float32Array;
  delays: Float32Array;
}

/** Block with the interval that it covers. */
export interface Segment {
  block: Block;
  from: number;
  to: number;
}

/** Number of a lane, or name of a folded container (folded.js). */
export type LaneName = number | string;

/** Row of a lane. */
export interface Row {
  lane: number;
  row: number;
  start: number;
  end: number;
  value?: number;
  imbrication?: number;
  height?: number;
}

/** Row with all that the program knows about it (details.rs). */
export interface Details extends Row {
  fields?: [name: string, value: string][];
  from?: number;
  to?: number;
  key?: string;
  line?: number;
  file?: string | null;
  links?: LinkAnswer[];
  /** Waits of a state, and waits that it ends, once they are known. */
  waits?: Wait[];
  causes?: Wait[];
}

export interface LinkAnswer {
  lane: number;
  row: number;
  start: number;
  end: number;
  value: number;
  from: number;
  to: number;
  other: [lane: number, row: number] | null;
}

export interface TypedValue {
  type: number;
  value: number;
}

/** What decides the colours of states and events. */
export type Color = { by: "value" | "class" | "duration" } | { by: "field"; name: string };

/** Answer `flame` of the program (flame.rs): paths of nested states, parents before their children. */
export interface FlameAnswer {
  paths?: [parent: number | null, type: number, value: number, seconds: number, count: number][];
  others?: number;
  refused?: string;
}

export type Within = "value" | "container" | "key" | "field";

export interface Query {
  within: Within;
  text: string;
}

export type Hit = Details | { container: number; start: number };

/** Answer `hits` of the program (hits.rs): a page of the hits, or the reason of the refusal. */
export interface HitsAnswer {
  total?: number;
  hits?: Hit[];
  refused?: string;
}

/** Position from which a search continues. */
export interface Place {
  time: number;
  lane: number;
  row: number;
}

/** Where data comes from: the program, or the page itself (source.js). */
export interface Source {
  /** Blocks by lane, if the page contains them. */
  embedded: Map<number, Block[]> | null;
  progress(): Promise<{ state: string; done: number; all: number | null; events: number }>;
  model(): Promise<ModelAnswer>;
  values(type: number, first: number): Promise<ValueAnswer[]>;
  value(text: string): Promise<TypedValue | null>;
  tiles(level: number, first: number, count: number, rows: number, lanes: number[]): Promise<Block[]>;
  folded(level: number, first: number, count: number, containers: number[], hidden: number[]): Promise<Block[]>;
  row(lane: number, row: number): Promise<Details | null>;
  profile(from: number, to: number): Promise<ProfileAnswer>;
  /** Lists rows or containers that contain a text, in order of time. */
  hits(within: Within, text: string, first: number, count: number): Promise<HitsAnswer>;
  classes(): Promise<ClassesAnswer>;
  /** Returns a field of some rows of a lane. */
  fields(lane: number, name: string, rows: number[]): Promise<(string | null)[]>;
  flame(container: number, from: number, to: number): Promise<FlameAnswer>;
  find(type: number, value: number, at: Place, back: boolean): Promise<Row | null>;
}

/** The trace: its model, and what has been fetched of it. */
export interface Data {
  source: Source;
  model: Model;
  tiles: Tiles;
  names: Names;
}

/** Line of the picture: a container or one of its lanes. */
export interface Line {
  container: number;
  indent: number;
  label: string;
  lane: Lane | null;
  /** Whether it is a further lane of the container of an earlier line. */
  minor?: boolean;
  /** Whether it shows the contents of a folded container. */
  summary?: boolean;
  folds?: boolean;
  folded?: boolean;
  top: number;
  height: number;
}

export interface Layout {
  lines: Line[];
  /** Height at which links of a container end. */
  places: Map<number, number>;
  byLane: Map<number, Line>;
  height: number;
  /** Height of the pinned lines. */
  pinned: number;
  /** Width of the longest name, once it has been computed. */
  names?: number;
}

/** Colours of the theme, as CSS writes them. */
export interface Style {
  back: string;
  panel: string;
  line: string;
  text: string;
  quiet: string;
  accent: string;
}

/** A picture that is being drawn. Lengths are device pixels; the plot begins at x = 0. */
export interface Frame {
  context: CanvasRenderingContext2D;
  viewport: Viewport;
  layout: Layout;
  /** Lines on the screen: the pinned ones, which do not scroll, and the others. */
  pinned: Line[];
  lines: Line[];
  style: Style;
  /** Colour of the background as a pixel. */
  back: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
  /** Width of the plot. */
  width: number;
  /** Top and bottom of the plot. */
  above: number;
  below: number;
  /** Level of the pyramid at which a bin is one to two pixels wide. */
  level: number;
  /** Returns the position of a time. */
  x(time: number): number;
  /** Returns the position of a height in the layout. */
  y(height: number): number;
}

/** Name of a state or event, drawn into it if there is room. */
export interface Label {
  text: string;
  x: number;
  width: number;
  y: number;
  light: boolean;
}

/** All parts of the page. Functions take those that they need. */
export interface Page {
  data: Data;
  state: State;
  viewport: Viewport;
  scene: Scene;
  navigator: Navigator;
  panels: Panels;
  overlays: Overlays;
  live: Live;
}
