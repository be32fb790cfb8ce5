// @ts-check
/** Extent, order and search of points, which are stored as x0, y0, x1, y1, … Pure functions. */
/** @import { Bounds, Point, Transform } from './types.js' */

import { toData } from './geometry.js';

/** Padding around the points, relative to their extent. */
const PADDING = 0.06;

/** Points up to which keys step from left to right; of more, in the order of the data. */
const MAX_SORTED = 50_000;

/** Distance from the pointer within which a feature is found. */
const MAX_DISTANCE_PX = 10;

/**
 * Number of points.
 *
 * @param {Float32Array} points
 */
export function countOf(points) {
  return points.length / 2;
}

/**
 * Whether a point has coordinates: a feature without a value has none.
 *
 * @param {Float32Array} points
 * @param {number} i
 */
function isPlaced(points, i) {
  return Number.isFinite(points[2 * i]) && Number.isFinite(points[2 * i + 1]);
}

/**
 * Bounds of all points, with padding.
 *
 * @param {Float32Array} points
 * @returns {Bounds}
 */
export function boundsOf(points) {
  let [xMin, xMax, yMin, yMax] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < countOf(points); i++) {
    if (isPlaced(points, i)) {
      xMin = Math.min(xMin, points[2 * i]);
      xMax = Math.max(xMax, points[2 * i]);
      yMin = Math.min(yMin, points[2 * i + 1]);
      yMax = Math.max(yMax, points[2 * i + 1]);
    }
  }
  if (xMin > xMax) {
    return [-1, 1, -1, 1];
  }
  // the extent of equal values is zero: then the value itself, or 1
  const xPad = (xMax - xMin) * PADDING || Math.abs(xMin) || 1;
  const yPad = (yMax - yMin) * PADDING || Math.abs(yMin) || 1;
  return [xMin - xPad, xMax + xPad, yMin - yPad, yMax + yPad];
}

/**
 * Features in the order in which they are drawn, a stable counting sort by code: first those without a value
 * (code 255), then the background (code 0), so that groups lie above both.
 *
 * @param {Uint8Array} codes
 */
export function drawingOrderOf(codes) {
  const rankOf = (/** @type {number} */ i) => (codes[i] + 1) & 255;
  const starts = new Uint32Array(257);
  for (let i = 0; i < codes.length; i++) {
    starts[rankOf(i) + 1]++;
  }
  for (let rank = 0; rank < 256; rank++) {
    starts[rank + 1] += starts[rank];
  }
  const order = new Uint32Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    order[starts[rankOf(i)]++] = i;
  }
  return order;
}

/**
 * Features from left to right, as keys step through them.
 *
 * @param {Float32Array} points
 */
export function steppingOrderOf(points) {
  const placed = [];
  for (let i = 0; i < countOf(points); i++) {
    if (isPlaced(points, i)) {
      placed.push(i);
    }
  }
  const order = Uint32Array.from(placed);
  // nobody steps through more, and sorting them would take a second
  return placed.length > MAX_SORTED
    ? order
    : order.sort((a, b) => points[2 * a] - points[2 * b] || points[2 * a + 1] - points[2 * b + 1]);
}

/**
 * The feature that is `by` steps after another; without one, the first or the last. −1 where there is none.
 *
 * @param {Uint32Array} steppingOrder
 * @param {number} feature
 * @param {1 | -1} by
 */
export function steppedFrom(steppingOrder, feature, by) {
  const n = steppingOrder.length;
  if (n === 0) {
    return -1;
  }
  const place = steppingOrder.indexOf(feature);
  if (place < 0) {
    return steppingOrder[by > 0 ? 0 : n - 1];
  }
  return steppingOrder[(place + by + n) % n];
}

/**
 * The feature nearest to a pixel; −1 where none is near.
 *
 * @param {Float32Array} points
 * @param {Transform} transform
 * @param {Point} pixel
 */
export function nearestTo(points, transform, pixel) {
  const { scaleX, scaleY } = transform;
  const [x, y] = toData(transform, pixel);
  let nearest = -1;
  let least = MAX_DISTANCE_PX ** 2;
  for (let i = 0; i < countOf(points); i++) {
    const dx = (points[2 * i] - x) * scaleX;
    const dy = (points[2 * i + 1] - y) * scaleY;
    // <=: of features at the same place the last, which usually lies above the others
    if (dx * dx + dy * dy <= least) {
      least = dx * dx + dy * dy;
      nearest = i;
    }
  }
  return nearest;
}
