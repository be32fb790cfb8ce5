// @ts-check
/** Reads what the kernel has sent into the state. */
/** @import { FeatureMap } from './types.js' */

import { asBytes, asFloats, asIntegers } from './buffers.js';
import { NO_EDGES } from './edges.js';
import { showEdgeLegend, showLegend } from './legend.js';
import { showAll } from './navigation.js';
import { boundsOf, countOf, drawingOrderOf, steppingOrderOf } from './points.js';
import { showSelection } from './selection.js';

const HELP =
  'Drag to pan, Shift and drag (or Lasso) to select. Keys: arrows pan, + and − zoom, 0 shows all, ' +
  'n and p step through points, Space selects, Escape clears.';

/**
 * Read the positions and the selection, and show all features.
 *
 * @param {FeatureMap} map
 */
export function readPoints(map) {
  const { model, parts, state } = map;
  const points = asFloats(model.get('points'));
  state.points = points;
  state.bounds = boundsOf(points);
  state.equal = model.get('equal');
  state.steppingOrder = steppingOrderOf(points);
  state.names.clear();
  state.hovered = state.focused = -1;
  parts.overlay.setAttribute('aria-label', `Map of ${countOf(points)} ${model.get('noun')}. ${HELP}`);
  readEdges(map);
  readSelection(map);
  showAll(map);
}

/**
 * Read the lines between features; those to features that are not there are left out.
 *
 * @param {FeatureMap} map
 */
export function readEdges(map) {
  const { model, parts, state } = map;
  const ends = asIntegers(model.get('edges'));
  const known = ends.every(feature => feature < countOf(state.points));
  state.edges = known
    ? { ends, looks: asBytes(model.get('edge_codes')), strengths: asBytes(model.get('edge_strengths')) }
    : NO_EDGES;
  showEdgeLegend(parts.edgeLegend, model.get('edge_looks'));
  map.redraw();
}

/**
 * Read the colour codes and their palette. Names are requested again, since they include the value of the feature.
 *
 * @param {FeatureMap} map
 */
export function readColors(map) {
  const { model, parts, state } = map;
  state.codes = asBytes(model.get('codes'));
  state.colors = asBytes(model.get('colors'));
  state.shapes = asBytes(model.get('shapes'));
  state.drawingOrder = drawingOrderOf(state.codes);
  state.names.clear();
  showLegend(parts.legend, model.get('legend'), state.colors);
  map.redraw();
}

/** @param {FeatureMap} map */
export function readSelection(map) {
  showSelection(map, asBytes(map.model.get('selection')));
}
