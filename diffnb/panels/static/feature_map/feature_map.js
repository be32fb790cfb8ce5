// @ts-check
/**
 * A map of features, one point each, painted pixel by pixel so that 20,000 points pan and zoom smoothly on any
 * machine. The kernel sends positions (float32), colour codes (uint8), and names only on request.
 */
/** @import { Message, View } from '../types.js' */
/** @import { FeatureMap, MapTraits } from './types.js' */

import { listen } from '../shared/model.js';
import { onThemeChange } from '../shared/theme.js';
import { drawOnResize, scheduleDrawing } from './drawing.js';
import { readColors, readEdges, readPoints, readSelection } from './kernel.js';
import { listenToKeys } from './keyboard.js';
import { build } from './parts.js';
import { listenToPointer } from './pointer.js';
import { createState } from './state.js';
import { addTools } from './toolbar.js';
import { receiveName } from './tooltip.js';

/** @param {View<MapTraits>} view */
function render({ model, el }) {
  /** @type {FeatureMap} */
  const map = { model, el, parts: build(el), state: createState(), redraw: () => scheduleDrawing(map) };
  addTools(map);
  listenToPointer(map);
  listenToKeys(map);
  readPoints(map);
  readColors(map);
  const cleanups = [listen(model, kernelEvents(map)), onThemeChange(map.redraw), drawOnResize(map)];
  return () => {
    for (const cleanup of cleanups) {
      cleanup();
    }
  };
}

/** @param {FeatureMap} map */
function kernelEvents(map) {
  return {
    'change:points': () => readPoints(map),
    'change:codes': () => readColors(map),
    'change:colors': () => readColors(map),
    'change:legend': () => readColors(map),
    'change:edges': () => readEdges(map),
    'change:edge_looks': () => readEdges(map),
    'change:axes': map.redraw,
    'change:labels': map.redraw,
    'change:selection': () => readSelection(map),
    'msg:custom': (/** @type {Message} */ message) => receiveName(map, message)
  };
}

export default { render };
