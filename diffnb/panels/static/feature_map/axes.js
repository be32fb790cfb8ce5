// @ts-check
/** Ticks, frame, zero lines and names of the two axes. */
/** @import { FeatureMap, Size, Transform } from './types.js' */

import { MARGIN, plotArea, toData, toPixel } from './geometry.js';

const [PX_PER_X_TICK, PX_PER_Y_TICK] = [90, 60];
const [TICK_OPACITY, FRAME_OPACITY] = [0.85, 0.35];

/**
 * Multiples of 1, 2 or 5 times a power of ten between two bounds, at most about `count`.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function niceTicks(low, high, count) {
  const exact = (high - low) / Math.max(1, count);
  if (!(exact > 0) || !Number.isFinite(exact)) {
    return [];
  }
  const power = 10 ** Math.floor(Math.log10(exact));
  const step = power * ([1, 2, 5].find(multiple => multiple * power >= exact) ?? 10);
  const tolerance = step * 1e-9;
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high + tolerance; value += step) {
    ticks.push(Math.abs(value) < tolerance ? 0 : value);
  }
  return ticks;
}

/**
 * A number with three significant digits and a proper minus sign.
 *
 * @param {number} value
 */
export function formatNumber(value) {
  return String(Number(value.toPrecision(3))).replace('-', '−');
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {FeatureMap} map
 * @param {Transform} transform
 */
export function drawAxes(pen, { model, state }, transform) {
  if (model.get('bare')) {
    return;
  }
  pen.globalAlpha = TICK_OPACITY;
  drawTicks(pen, plotArea(state.size), transform);
  pen.globalAlpha = FRAME_OPACITY;
  drawFrame(pen, plotArea(state.size), transform);
  pen.globalAlpha = 1;
  drawNames(pen, state.size, model.get('axes'));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {ReturnType<typeof plotArea>} area
 * @param {Transform} transform
 */
function drawTicks(pen, area, transform) {
  const [left, bottom] = toData(transform, [area.left, area.bottom]);
  const [right, top] = toData(transform, [area.right, area.top]);
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  for (const value of niceTicks(left, right, area.width / PX_PER_X_TICK)) {
    pen.fillText(formatNumber(value), toPixel(transform, value, 0)[0], area.bottom + 5);
  }
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const value of niceTicks(bottom, top, area.height / PX_PER_Y_TICK)) {
    pen.fillText(formatNumber(value), area.left - 6, toPixel(transform, 0, value)[1]);
  }
}

/**
 * The frame, and lines at zero where zero is in view.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {ReturnType<typeof plotArea>} area
 * @param {Transform} transform
 */
function drawFrame(pen, area, transform) {
  const [x, y] = toPixel(transform, 0, 0);
  pen.beginPath();
  pen.rect(area.left, area.top, area.width, area.height);
  if (x > area.left && x < area.right) {
    pen.moveTo(x, area.top);
    pen.lineTo(x, area.bottom);
  }
  if (y > area.top && y < area.bottom) {
    pen.moveTo(area.left, y);
    pen.lineTo(area.right, y);
  }
  pen.stroke();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Size} size
 * @param {readonly [x: string, y: string]} names
 */
function drawNames(pen, size, [x, y]) {
  const area = plotArea(size);
  pen.textAlign = 'center';
  pen.textBaseline = 'bottom';
  pen.fillText(x, area.left + area.width / 2, size.height - 1);
  pen.save();
  pen.translate(10, MARGIN.top + area.height / 2);
  pen.rotate(-Math.PI / 2);
  pen.textBaseline = 'middle';
  pen.fillText(y, 0, 0);
  pen.restore();
}
