// @ts-check
/** @import { FeatureMap, Mode } from './types.js' */

import { appendButton } from '../shared/dom.js';
import { showAll, ZOOM_STEP, zoomBy } from './navigation.js';
import { clearSelection } from './selection.js';

/**
 * Add the buttons of a map before the number of selected features.
 *
 * @param {FeatureMap} map
 */
export function addTools(map) {
  const { toolbar, selectionCount } = map.parts;
  const pan = appendButton(toolbar, 'Pan', () => setMode('pan'), 'Drag to move the map');
  const lasso = appendButton(toolbar, 'Lasso', () => setMode('lasso'), 'Drag around points to select them');
  appendButton(toolbar, '+', () => zoomBy(map, ZOOM_STEP), 'Zoom in');
  appendButton(toolbar, '−', () => zoomBy(map, 1 / ZOOM_STEP), 'Zoom out');
  appendButton(toolbar, 'Show all', () => showAll(map), 'Fit all points into view');
  appendButton(toolbar, 'Clear selection', () => clearSelection(map), 'Select nothing');
  toolbar.append(selectionCount);

  /** @param {Mode} mode */
  function setMode(mode) {
    map.state.mode = mode;
    pan.setAttribute('aria-pressed', String(mode === 'pan'));
    lasso.setAttribute('aria-pressed', String(mode === 'lasso'));
    map.parts.overlay.style.cursor = mode === 'lasso' ? 'crosshair' : 'grab';
  }

  setMode(map.state.mode);
}
