/** The parts and the state of the feature map, which its modules share. */

import type { Model } from '../types.js';

export type Point = readonly [x: number, y: number];

/** Extent of the data: smallest and largest x, smallest and largest y. */
export type Bounds = readonly [xMin: number, xMax: number, yMin: number, yMax: number];

/** Size of the map in CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The part of the data in view: the centre as an offset in units of the bounds, and the magnification. */
export interface Viewport {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** Data to pixels: px = originX + x · scaleX, py = originY − y · scaleY. */
export interface Transform {
  readonly originX: number;
  readonly originY: number;
  readonly scaleX: number;
  readonly scaleY: number;
}

/** Pixels that a marker covers around its centre, and how much of each. */
export interface Stamp {
  readonly dx: readonly number[];
  readonly dy: readonly number[];
  readonly coverage: readonly number[];
}

/** Pixels as red, green, blue and alpha. */
export type Surface = Readonly<Pick<ImageData, 'data' | 'width' | 'height'>>;

/** Lines between features: two features each, the number of its look, and its strength from 0 to 255. */
export interface Edges {
  ends: Uint32Array;
  looks: Uint8Array;
  strengths: Uint8Array;
}

/** How edges of a kind are drawn, and what they are called in the legend. */
export interface EdgeLook {
  readonly label: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly count: number;
}

/** How the features of one code are painted. */
export interface Brush {
  readonly stamp: Stamp;
  readonly rgb: readonly [red: number, green: number, blue: number];
  readonly opacity: number;
}

/** What is painted: all of one length but for `points` (two numbers a feature) and the palette (by code). */
export interface Features {
  points: Float32Array;
  codes: Uint8Array;
  colors: Uint8Array;
  shapes: Uint8Array;
  selection: Uint8Array;
  nSelected: number;
  /** features from the lowest to the topmost */
  drawingOrder: Uint32Array;
}

export interface LegendItem {
  readonly label: string;
  readonly color: string;
  readonly shape: number;
  readonly count: number;
}

/** Groups with their markers, or a scale of numbers from low to high. */
export interface Legend {
  readonly title?: string;
  readonly items?: readonly LegendItem[];
  readonly more?: number;
  readonly low?: number;
  readonly high?: number;
}

export interface MapTraits {
  points: DataView<ArrayBuffer>;
  codes: DataView<ArrayBuffer>;
  colors: DataView<ArrayBuffer>;
  shapes: DataView<ArrayBuffer>;
  legend: Legend;
  axes: readonly [x: string, y: string];
  labels: readonly (readonly [feature: number, name: string])[];
  selection: DataView<ArrayBuffer>;
  /** what a point is: a feature or an observation */
  noun: string;
  /** lines between features: none in most maps */
  edges: DataView<ArrayBuffer>;
  edge_codes: DataView<ArrayBuffer>;
  edge_strengths: DataView<ArrayBuffer>;
  edge_looks: readonly EdgeLook[];
  /** whether both axes have the same scale, as on an image */
  equal: boolean;
  /** whether axes say nothing, as in a network */
  bare: boolean;
  /** radius of a marker in CSS pixels; 0 for one that fits the number of features */
  radius: number;
}

export type Mode = 'pan' | 'lasso';

/** The path of a pointer that is down. */
export interface Drag {
  readonly start: Point;
  last: Point;
  moved: boolean;
  /** corners of the lasso; null while the map is panned */
  readonly lasso: Point[] | null;
}

export interface State extends Features {
  /** features in the order in which keys step through them */
  steppingOrder: Uint32Array;
  edges: Edges;
  bounds: Bounds;
  equal: boolean;
  viewport: Viewport;
  size: Size;
  /** device pixels of a CSS pixel */
  pixelRatio: number;
  /** pixels of the points; null until the map has a size */
  image: ImageData | null;
  /** the request of the next drawing; 0 for none */
  frame: number;
  mode: Mode;
  drag: Drag | null;
  /** features under the pointer and at the keyboard's cursor; −1 for none */
  hovered: number;
  focused: number;
  /** names that were requested from the kernel; empty until it replies */
  names: Map<number, string>;
}

/** The elements of the map. */
export interface Parts {
  readonly toolbar: HTMLElement;
  readonly stage: HTMLElement;
  readonly lines: HTMLCanvasElement;
  readonly canvas: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly tooltip: HTMLElement;
  readonly legend: HTMLElement;
  readonly edgeLegend: HTMLElement;
  /** read out by screen readers */
  readonly announcer: HTMLElement;
  readonly selectionCount: HTMLElement;
}

/** A map on the page. */
export interface FeatureMap {
  readonly model: Model<MapTraits>;
  readonly el: MapElement;
  readonly parts: Parts;
  readonly state: State;
  /** draw before the next frame */
  redraw(): void;
}

/** The root element, with what benchmarks read: number of draws and duration of the last one. */
export type MapElement = HTMLElement & { diffnbDraws?: { readonly count: number; readonly ms: number } };
