/** The parts and the state of the feature table, which its modules share. */

import type { Model } from '../types.js';

export interface Column {
  readonly name: string;
  readonly number: boolean;
}

export interface Row {
  /** place in the table of the kernel, whatever the order shown */
  readonly index: number;
  /** whether the row is selected */
  readonly on: boolean;
  readonly cells: readonly string[];
}

/** The rows that the kernel has sent, and how many there are. */
export interface Page {
  /** place of the first row, in the order shown */
  readonly start: number;
  readonly rows: readonly Row[];
  readonly found: number;
  readonly selected: number;
  readonly all: number;
}

export interface TableTraits {
  columns: readonly Column[];
  order: readonly [column: number, descending: boolean];
  query: string;
  only_selected: boolean;
  window: readonly [start: number, stop: number];
  page: Page;
}

/** The elements of the table. */
export interface Parts {
  readonly toolbar: HTMLElement;
  readonly search: HTMLInputElement;
  readonly onlySelected: HTMLInputElement;
  readonly count: HTMLElement;
  readonly scroller: HTMLElement;
  readonly table: HTMLTableElement;
  readonly head: HTMLTableRowElement;
  readonly body: HTMLTableSectionElement;
}

/** A table on the page. */
export interface FeatureTable {
  readonly model: Model<TableTraits>;
  readonly el: HTMLElement;
  readonly parts: Parts;
  /** place of the row at the keyboard's cursor; −1 for none */
  current: number;
}
