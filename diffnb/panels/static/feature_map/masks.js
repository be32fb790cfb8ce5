// @ts-check
/** Selections as bit masks, one bit a feature, the lowest bit of a byte first, as `_marks.py` packs them. */
/** @import { Point, Transform } from './types.js' */

import { countOf } from './points.js';

/**
 * 1 where the feature is selected, else 0.
 *
 * @param {Uint8Array} mask
 * @param {number} i
 */
export function isSet(mask, i) {
  return (mask[i >> 3] >> (i & 7)) & 1;
}

/**
 * A mask for n features: a copy of another one, or nothing selected.
 *
 * @param {number} n
 * @param {Uint8Array} [other]
 */
export function maskOf(n, other = new Uint8Array(0)) {
  const mask = new Uint8Array(Math.ceil(n / 8));
  mask.set(other.subarray(0, mask.length));
  return mask;
}

/**
 * Number of selected features among the first n.
 *
 * @param {Uint8Array} mask
 * @param {number} n
 */
export function countSet(mask, n) {
  let count = 0;
  for (let i = 0; i < n; i++) {
    count += isSet(mask, i);
  }
  return count;
}

/**
 * Add the features within a polygon of pixels to a mask.
 *
 * @param {Uint8Array} mask
 * @param {Float32Array} points
 * @param {Transform} transform
 * @param {readonly Point[]} polygon
 */
export function addWithin(mask, points, transform, polygon) {
  const { originX, originY, scaleX, scaleY } = transform;
  for (let i = 0; i < countOf(points); i++) {
    if (isInside(polygon, originX + points[2 * i] * scaleX, originY - points[2 * i + 1] * scaleY)) {
      mask[i >> 3] |= 1 << (i & 7);
    }
  }
}

/**
 * Whether a point lies in a polygon: a ray from it crosses an odd number of edges.
 *
 * @param {readonly Point[]} polygon
 * @param {number} x
 * @param {number} y
 */
export function isInside(polygon, x, y) {
  let inside = false;
  let [xFrom, yFrom] = polygon[polygon.length - 1];
  for (const [xTo, yTo] of polygon) {
    if (yTo > y !== yFrom > y && x < ((xFrom - xTo) * (y - yTo)) / (yFrom - yTo) + xTo) {
      inside = !inside;
    }
    [xFrom, yFrom] = [xTo, yTo];
  }
  return inside;
}
