/** The parts and the state of the maps of pairs, which their modules share. */

import type { Model } from '../types.js';

/** A cell: in which map, row and column; −1 for none. */
export interface Cell {
  readonly map: number;
  readonly row: number;
  readonly column: number;
}

export interface PairTraits {
  /** one byte per pair, map by map and row by row: the code of its colour, 255 where there is no value */
  codes: DataView<ArrayBuffer>;
  /** features in a map */
  size: number;
  titles: readonly string[];
  /** red, green and blue of each code */
  colors: DataView<ArrayBuffer>;
  low: number;
  high: number;
  empty: string;
  selection: DataView<ArrayBuffer>;
}

export interface PairMap {
  readonly model: Model<PairTraits>;
  readonly el: HTMLElement;
  readonly maps: HTMLElement;
  readonly legend: HTMLElement;
  readonly announcer: HTMLElement;
  /** the cell under the pointer or the keyboard's cursor */
  cell: Cell;
  /** texts that were requested from the kernel, by cell */
  readonly texts: Map<string, string>;
}
