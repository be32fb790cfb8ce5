// @ts-check
/** Pixels of a map of pairs, and the cell at a place. Pure functions. */
/** @import { Cell } from './types.js' */

/** The code of a pair without a value. */
export const NO_VALUE = 255;

/** @type {Cell} */
export const NO_CELL = { map: -1, row: -1, column: -1 };

/**
 * The colours of one map, red, green, blue and alpha of each pair; pairs without a value are transparent.
 *
 * @param {Uint8Array} codes of all maps
 * @param {Uint8Array} colors red, green and blue of each code
 * @param {number} size features in a map
 * @param {number} map
 */
export function pixelsOf(codes, colors, size, map) {
  const pixels = new Uint8ClampedArray(4 * size * size);
  const start = map * size * size;
  for (let i = 0; i < size * size; i++) {
    const code = codes[start + i];
    if (code !== NO_VALUE) {
      pixels.set([colors[3 * code], colors[3 * code + 1], colors[3 * code + 2], 255], 4 * i);
    }
  }
  return pixels;
}

/**
 * The cell at a place within a square of a width, both in CSS pixels.
 *
 * @param {number} map
 * @param {number} size
 * @param {number} width
 * @param {number} x
 * @param {number} y
 * @returns {Cell}
 */
export function cellAt(map, size, width, x, y) {
  const [column, row] = [Math.floor((x / width) * size), Math.floor((y / width) * size)];
  const inside = column >= 0 && row >= 0 && column < size && row < size;
  return inside ? { map, row, column } : NO_CELL;
}

/** @type {Readonly<Record<string, readonly [rows: number, columns: number]>>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The cell to which a key moves from another in the same map; null for other keys.
 *
 * @param {Cell} cell
 * @param {number} map
 * @param {number} size
 * @param {string} key
 * @returns {Cell | null}
 */
export function cellBeside(cell, map, size, key) {
  if (!Object.hasOwn(STEPS, key)) {
    return null;
  }
  if (cell.map < 0) {
    return { map, row: 0, column: Math.min(1, size - 1) };
  }
  const [rows, columns] = STEPS[key];
  const within = (/** @type {number} */ place) => Math.min(size - 1, Math.max(0, place));
  return { map, row: within(cell.row + rows), column: within(cell.column + columns) };
}

/** @param {Cell} cell */
export function nameOf({ map, row, column }) {
  return `${map} ${row} ${column}`;
}
