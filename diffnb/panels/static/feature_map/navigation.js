// @ts-check
/** Zooming, panning, and finding features in what is shown. */
/** @import { FeatureMap, Point, State } from './types.js' */

import { ALL_IN_VIEW, panned, toPixel, transformOf, withEqualScales, zoomed } from './geometry.js';
import { nearestTo } from './points.js';

/** Zoom of a button or a key. */
export const ZOOM_STEP = 1.4;

/** @param {State} state */
export function currentTransform({ size, bounds, equal, viewport }) {
  return transformOf(size, equal ? withEqualScales(bounds, size) : bounds, viewport);
}

/** @param {FeatureMap} map */
export function showAll(map) {
  map.state.viewport = ALL_IN_VIEW;
  map.redraw();
}

/**
 * @param {FeatureMap} map
 * @param {number} factor
 * @param {Point} [fixed] the pixel that stays in place; by default the centre
 */
export function zoomBy(map, factor, fixed) {
  const { state } = map;
  state.viewport = zoomed(state.viewport, state.size, factor, fixed);
  map.redraw();
}

/**
 * @param {FeatureMap} map
 * @param {number} dx
 * @param {number} dy
 */
export function panBy(map, dx, dy) {
  const { state } = map;
  state.viewport = panned(state.viewport, state.size, dx, dy);
  map.redraw();
}

/**
 * The pixel of a feature.
 *
 * @param {State} state
 * @param {number} feature
 */
export function pixelOf(state, feature) {
  return toPixel(currentTransform(state), state.points[2 * feature], state.points[2 * feature + 1]);
}

/**
 * The feature at a pixel; −1 for none.
 *
 * @param {State} state
 * @param {Point} pixel
 */
export function featureAt(state, pixel) {
  return nearestTo(state.points, currentTransform(state), pixel);
}
