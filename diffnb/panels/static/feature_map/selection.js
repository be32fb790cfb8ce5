// @ts-check
/** Selecting features. */
/** @import { FeatureMap, Point } from './types.js' */

import { save } from '../shared/model.js';
import { addWithin, countSet, maskOf } from './masks.js';
import { currentTransform } from './navigation.js';
import { countOf } from './points.js';

/**
 * Show a selection, from this view or from the kernel.
 *
 * @param {FeatureMap} map
 * @param {Uint8Array<ArrayBuffer>} mask
 */
export function showSelection(map, mask) {
  const { parts, state } = map;
  state.selection = mask;
  state.nSelected = countSet(mask, countOf(state.points));
  parts.selectionCount.textContent = state.nSelected ? `${state.nSelected} selected` : '';
  map.redraw();
}

/**
 * Select features, here and in the kernel.
 *
 * @param {FeatureMap} map
 * @param {Uint8Array<ArrayBuffer>} mask
 */
function select(map, mask) {
  save(map.model, 'selection', new DataView(mask.buffer));
  showSelection(map, mask);
}

/** @param {FeatureMap} map */
export function clearSelection(map) {
  select(map, maskOf(countOf(map.state.points)));
}

/**
 * @param {FeatureMap} map
 * @param {number} feature −1 for none
 */
export function toggle(map, feature) {
  if (feature < 0) {
    return;
  }
  const mask = maskOf(countOf(map.state.points), map.state.selection);
  mask[feature >> 3] ^= 1 << (feature & 7);
  select(map, mask);
}

/**
 * Select the features within a polygon of pixels, in place of the selection or in addition to it.
 *
 * @param {FeatureMap} map
 * @param {readonly Point[]} polygon
 * @param {boolean} extend
 */
export function selectWithin(map, polygon, extend) {
  const { points, selection } = map.state;
  const mask = maskOf(countOf(points), extend ? selection : undefined);
  addWithin(mask, points, currentTransform(map.state), polygon);
  select(map, mask);
}
