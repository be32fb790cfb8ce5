// @ts-check
/** Panning, drawing a lasso, clicking and hovering with the pointer; zooming with the wheel. */
/** @import { FeatureMap, Point } from './types.js' */

import { featureAt, panBy, zoomBy } from './navigation.js';
import { selectWithin, toggle } from './selection.js';
import { focusOn, hover } from './tooltip.js';

/** A pointer that moves less between down and up has clicked. */
const MAX_CLICK_PX = 3;

/** Corners of the lasso are at least this far apart. */
const MIN_CORNER_PX = 2;

const ZOOM_PER_WHEEL_PX = 0.002;

/** @param {FeatureMap} map */
export function listenToPointer(map) {
  const { overlay } = map.parts;
  overlay.addEventListener('pointerdown', event => startDrag(map, event));
  overlay.addEventListener('pointermove', event => {
    if (map.state.drag) {
      continueDrag(map, pixelOfEvent(event));
    } else {
      hover(map, featureAt(map.state, pixelOfEvent(event)));
    }
  });
  overlay.addEventListener('pointerup', event => endDrag(map, event));
  overlay.addEventListener('pointercancel', () => cancelDrag(map));
  overlay.addEventListener('pointerleave', () => hover(map, -1));
  overlay.addEventListener('blur', () => focusOn(map, -1));
  overlay.addEventListener('wheel', event => zoomWithWheel(map, event), { passive: false });
}

/**
 * @param {MouseEvent} event
 * @returns {Point}
 */
function pixelOfEvent(event) {
  return [event.offsetX, event.offsetY];
}

/**
 * @param {Point} a
 * @param {Point} b
 */
function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/**
 * @param {FeatureMap} map
 * @param {PointerEvent} event
 */
function startDrag({ parts: { overlay }, state }, event) {
  if (event.button !== 0) {
    return;
  }
  overlay.focus({ preventScroll: true });
  overlay.setPointerCapture(event.pointerId);
  const start = pixelOfEvent(event);
  const lasso = state.mode === 'lasso' || event.shiftKey ? [start] : null;
  state.drag = { start, last: start, moved: false, lasso };
}

/**
 * @param {FeatureMap} map
 * @param {Point} pixel
 */
function continueDrag(map, pixel) {
  const { drag } = map.state;
  if (!drag) {
    return;
  }
  drag.moved ||= distance(pixel, drag.start) > MAX_CLICK_PX;
  if (drag.lasso) {
    if (distance(pixel, drag.lasso[drag.lasso.length - 1]) > MIN_CORNER_PX) {
      drag.lasso.push(pixel);
    }
    map.redraw();
  } else if (drag.moved) {
    panBy(map, pixel[0] - drag.last[0], pixel[1] - drag.last[1]);
  }
  drag.last = pixel;
}

/**
 * @param {FeatureMap} map
 * @param {PointerEvent} event
 */
function endDrag(map, event) {
  const { drag } = map.state;
  if (!drag) {
    return;
  }
  cancelDrag(map);
  if (!drag.moved) {
    toggle(map, featureAt(map.state, pixelOfEvent(event)));
  } else if (drag.lasso && drag.lasso.length > 2) {
    selectWithin(map, drag.lasso, event.ctrlKey || event.metaKey);
  }
}

/** @param {FeatureMap} map */
export function cancelDrag(map) {
  map.state.drag = null;
  map.redraw();
}

/**
 * Zoom, but only where the map has the focus or Ctrl is down: otherwise the wheel scrolls the page.
 *
 * @param {FeatureMap} map
 * @param {WheelEvent} event
 */
function zoomWithWheel(map, event) {
  const root = /** @type {Document | ShadowRoot} */ (map.el.getRootNode());
  if (root.activeElement !== map.parts.overlay && !event.ctrlKey) {
    return;
  }
  event.preventDefault();
  zoomBy(map, Math.exp(-event.deltaY * ZOOM_PER_WHEEL_PX), pixelOfEvent(event));
}
