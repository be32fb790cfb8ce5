// @ts-check
/** Labels of the leading features, next to their points. */
/** @import { FeatureMap, Point, Transform } from './types.js' */

import { plotArea, toPixel } from './geometry.js';

const MAX_LABEL_LENGTH = 22;
const [KEPT_START, KEPT_END] = [13, 8];
const [OFFSET_PX, HALF_HEIGHT_PX] = [8, 7];

/** @typedef {readonly [left: number, top: number, right: number, bottom: number]} Box */

/**
 * A long name without its middle: names often differ at their end.
 *
 * @param {string} name
 */
export function shortened(name) {
  return name.length > MAX_LABEL_LENGTH ? `${name.slice(0, KEPT_START)}…${name.slice(-KEPT_END)}` : name;
}

/**
 * @param {Box} a
 * @param {Box} b
 */
export function overlap(a, b) {
  return a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
}

/**
 * Draw the labels in the order of their importance; one that would lie on another is left out.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {FeatureMap} map
 * @param {Transform} transform
 * @param {string} halo colour of the page, around the letters
 */
export function drawLabels(pen, { model, state }, transform, halo) {
  const area = plotArea(state.size);
  /** @type {Box[]} */
  const taken = [];
  pen.save();
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.lineJoin = 'round';
  pen.lineWidth = 3;
  pen.strokeStyle = halo;
  for (const [feature, name] of model.get('labels')) {
    const [x, y] = toPixel(transform, state.points[2 * feature], state.points[2 * feature + 1]);
    if (!(x > area.left && x < area.right && y > area.top && y < area.bottom)) {
      continue;
    }
    const text = shortened(name);
    const box = boxBeside([x, y], pen.measureText(text).width, area.right);
    if (!taken.some(other => overlap(box, other))) {
      taken.push(box);
      pen.strokeText(text, box[0], y);
      pen.fillText(text, box[0], y);
    }
  }
  pen.restore();
}

/**
 * The box of a label: to the right of its point, or to the left where it would leave the plot.
 *
 * @param {Point} point
 * @param {number} width
 * @param {number} right
 * @returns {Box}
 */
export function boxBeside([x, y], width, right) {
  const fits = x + OFFSET_PX + width <= right;
  const left = fits ? x + OFFSET_PX : x - OFFSET_PX - width;
  return [left, y - HALF_HEIGHT_PX, left + width, y + HALF_HEIGHT_PX];
}
