// @ts-check
/** The transform from data to pixels, and how zooming and panning change it. Pure functions. */
/** @import { Bounds, Point, Size, Transform, Viewport } from './types.js' */

/** Margin around the plot for the axes, in CSS pixels. */
export const MARGIN = { left: 62, right: 14, top: 12, bottom: 34 };

const [MIN_ZOOM, MAX_ZOOM] = [0.5, 400];

/** @type {Viewport} */
export const ALL_IN_VIEW = { zoom: 1, x: 0, y: 0 };

/**
 * The rectangle of the plot, without the margin.
 *
 * @param {Size} size
 */
export function plotArea({ width, height }) {
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const { left, top } = MARGIN;
  return { left, top, right, bottom, width: right - left, height: bottom - top };
}

/**
 * The transform from data to CSS pixels.
 *
 * @param {Size} size
 * @param {Bounds} bounds
 * @param {Viewport} viewport
 * @returns {Transform}
 */
export function transformOf(size, [xMin, xMax, yMin, yMax], { zoom, x, y }) {
  const area = plotArea(size);
  const scaleX = (area.width * zoom) / (xMax - xMin);
  const scaleY = (area.height * zoom) / (yMax - yMin);
  return {
    originX: area.left + area.width * (0.5 - (0.5 + x) * zoom) - xMin * scaleX,
    originY: area.top + area.height * (0.5 + (0.5 + y) * zoom) + yMin * scaleY,
    scaleX,
    scaleY
  };
}

/**
 * Bounds that are extended so that both axes have the same scale in a plot of this size.
 *
 * @param {Bounds} bounds
 * @param {Size} size
 * @returns {Bounds}
 */
export function withEqualScales([xMin, xMax, yMin, yMax], size) {
  const area = plotArea(size);
  const unit = Math.max((xMax - xMin) / area.width, (yMax - yMin) / area.height);
  const [x, y] = [(xMin + xMax) / 2, (yMin + yMax) / 2];
  const [halfWidth, halfHeight] = [(unit * area.width) / 2, (unit * area.height) / 2];
  return [x - halfWidth, x + halfWidth, y - halfHeight, y + halfHeight];
}

/**
 * The same transform in device pixels.
 *
 * @param {Transform} transform
 * @param {number} ratio
 * @returns {Transform}
 */
export function inDevicePixels({ originX, originY, scaleX, scaleY }, ratio) {
  return { originX: originX * ratio, originY: originY * ratio, scaleX: scaleX * ratio, scaleY: scaleY * ratio };
}

/**
 * @param {Transform} transform
 * @param {number} x
 * @param {number} y
 * @returns {Point}
 */
export function toPixel(transform, x, y) {
  return [transform.originX + x * transform.scaleX, transform.originY - y * transform.scaleY];
}

/**
 * @param {Transform} transform
 * @param {Point} pixel
 * @returns {Point}
 */
export function toData(transform, [px, py]) {
  return [(px - transform.originX) / transform.scaleX, (transform.originY - py) / transform.scaleY];
}

/**
 * Zoom by a factor about a pixel, by default the centre.
 *
 * @param {Viewport} viewport
 * @param {Size} size
 * @param {number} factor
 * @param {Point} [fixed]
 * @returns {Viewport}
 */
export function zoomed(viewport, size, factor, fixed) {
  const area = plotArea(size);
  const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, viewport.zoom * factor));
  const u = fixed ? (fixed[0] - area.left) / area.width - 0.5 : 0;
  const v = fixed ? 0.5 - (fixed[1] - area.top) / area.height : 0;
  const change = 1 / viewport.zoom - 1 / zoom;
  return { zoom, x: viewport.x + u * change, y: viewport.y + v * change };
}

/**
 * Move what is shown by a number of pixels to the right and down.
 *
 * @param {Viewport} viewport
 * @param {Size} size
 * @param {number} dx
 * @param {number} dy
 * @returns {Viewport}
 */
export function panned(viewport, size, dx, dy) {
  const area = plotArea(size);
  const { zoom, x, y } = viewport;
  return { zoom, x: x - dx / area.width / zoom, y: y + dy / area.height / zoom };
}
