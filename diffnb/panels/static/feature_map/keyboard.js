// @ts-check
/** @import { FeatureMap } from './types.js' */

import { panBy, showAll, ZOOM_STEP, zoomBy } from './navigation.js';
import { cancelDrag } from './pointer.js';
import { steppedFrom } from './points.js';
import { clearSelection, toggle } from './selection.js';
import { focusOn } from './tooltip.js';

const PAN_STEP_PX = 40;

/** @type {Readonly<Record<string, (map: FeatureMap) => void>>} */
const ACTIONS = {
  ArrowLeft: map => panBy(map, PAN_STEP_PX, 0),
  ArrowRight: map => panBy(map, -PAN_STEP_PX, 0),
  ArrowUp: map => panBy(map, 0, PAN_STEP_PX),
  ArrowDown: map => panBy(map, 0, -PAN_STEP_PX),
  '+': map => zoomBy(map, ZOOM_STEP),
  '=': map => zoomBy(map, ZOOM_STEP),
  '-': map => zoomBy(map, 1 / ZOOM_STEP),
  0: showAll,
  n: map => step(map, 1),
  p: map => step(map, -1),
  ' ': map => toggle(map, map.state.focused),
  Enter: map => toggle(map, map.state.focused),
  Escape: map => {
    cancelDrag(map);
    clearSelection(map);
  }
};

/**
 * @param {FeatureMap} map
 * @param {1 | -1} by
 */
function step(map, by) {
  const feature = steppedFrom(map.state.steppingOrder, map.state.focused, by);
  if (feature >= 0) {
    focusOn(map, feature);
  }
}

/** @param {FeatureMap} map */
export function listenToKeys(map) {
  map.parts.overlay.addEventListener('keydown', event => {
    const act = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined;
    if (!act || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // the notebook binds some of these keys, too
    act(map);
  });
}
