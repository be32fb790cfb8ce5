// @ts-check
/** The name of the feature under the pointer or at the keyboard's cursor, shown and read out. */
/** @import { Message } from '../types.js' */
/** @import { FeatureMap } from './types.js' */

import { pixelOf } from './navigation.js';

/** The oldest names beyond this number are forgotten. */
const MAX_NAMES = 5000;

/**
 * Request a name from the kernel, once.
 *
 * @param {FeatureMap} map
 * @param {number} feature
 */
function requestName({ model, state }, feature) {
  if (feature >= 0 && !state.names.has(feature)) {
    state.names.set(feature, '');
    model.send({ ask: 'name', index: feature });
  }
}

/**
 * @param {FeatureMap} map
 * @param {Message} message
 */
export function receiveName(map, message) {
  if (message.answer !== 'name') {
    return;
  }
  const { names } = map.state;
  names.set(message.index, message.text);
  if (names.size > MAX_NAMES) {
    names.delete(/** @type {number} */ (names.keys().next().value));
  }
  showTooltip(map);
  announceFocused(map);
}

/** @param {FeatureMap} map */
function showTooltip({ parts: { tooltip }, state }) {
  const feature = state.hovered >= 0 ? state.hovered : state.focused;
  const name = state.names.get(feature);
  tooltip.hidden = !name;
  if (!name) {
    return;
  }
  tooltip.textContent = name;
  const [px, py] = pixelOf(state, feature);
  tooltip.style.left = `${Math.min(px + 12, state.size.width - tooltip.offsetWidth - 4)}px`;
  tooltip.style.top = `${Math.max(0, py - 30)}px`;
}

/** @param {FeatureMap} map */
function announceFocused({ parts, state }) {
  const name = state.names.get(state.focused);
  if (name) {
    parts.announcer.textContent = name;
  }
}

/**
 * @param {FeatureMap} map
 * @param {number} feature −1 for none
 */
export function hover(map, feature) {
  if (feature === map.state.hovered) {
    return;
  }
  map.state.hovered = feature;
  requestName(map, feature);
  showTooltip(map);
  map.redraw();
}

/**
 * Move the keyboard's cursor.
 *
 * @param {FeatureMap} map
 * @param {number} feature −1 for none
 */
export function focusOn(map, feature) {
  map.state.focused = feature;
  requestName(map, feature);
  showTooltip(map);
  announceFocused(map);
  map.redraw();
}
