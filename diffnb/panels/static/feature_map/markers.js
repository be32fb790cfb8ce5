// @ts-check
/** @import { Stamp } from './types.js' */

/** Pixels that are covered less are left out. */
const MIN_COVERAGE = 0.02;

/**
 * Distance of a pixel from the centre of a marker, in units in which every shape reaches as far as its radius. The
 * factors give all shapes about the same area. In the order of `pl._style.MARKERS`.
 *
 * @type {readonly ((x: number, y: number, radius: number) => number)[]}
 */
const SHAPES = [
  (x, y) => Math.hypot(x, y), // disc
  (x, y) => Math.max(Math.abs(x), Math.abs(y)) * 1.13, // square
  (x, y, radius) => Math.max(Math.abs(x) * 1.5 - y * 0.75, y * 1.5) * 0.8 + radius * 0.05, // triangle
  (x, y) => (Math.abs(x) + Math.abs(y)) * 0.8 // diamond
];

export const N_SHAPES = SHAPES.length;

/**
 * The pixels that a marker covers; those at its edge in part.
 *
 * @param {number} shape
 * @param {number} radius in device pixels
 * @returns {Stamp}
 */
export function stampOf(shape, radius) {
  const reach = Math.ceil(radius + 0.5);
  /** @type {{ dx: number[], dy: number[], coverage: number[] }} */
  const stamp = { dx: [], dy: [], coverage: [] };
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const coverage = Math.min(1, radius + 0.5 - SHAPES[shape](x, y, radius));
      if (coverage > MIN_COVERAGE) {
        stamp.dx.push(x);
        stamp.dy.push(y);
        stamp.coverage.push(coverage);
      }
    }
  }
  return stamp;
}
