// @ts-check
/** When and at which size a map is drawn. */
/** @import { Cleanup } from '../types.js' */
/** @import { FeatureMap, State } from './types.js' */

import { drawEdges } from './edges.js';
import { inDevicePixels } from './geometry.js';
import { currentTransform } from './navigation.js';
import { drawOverlay } from './overlay.js';
import { countOf } from './points.js';
import { paint, radiusOf } from './raster.js';

const MAX_PIXEL_RATIO = 2;

/**
 * Draw before the next frame.
 *
 * @param {FeatureMap} map
 */
export function scheduleDrawing(map) {
  map.state.frame ||= requestAnimationFrame(() => draw(map));
}

/**
 * Draw a map whenever its size changes, until the result is called.
 *
 * @param {FeatureMap} map
 * @returns {Cleanup}
 */
export function drawOnResize(map) {
  const observer = new ResizeObserver(() => {
    if (fitCanvases(map)) {
      draw(map);
    }
  });
  observer.observe(map.parts.stage);
  return () => {
    observer.disconnect();
    cancelAnimationFrame(map.state.frame);
  };
}

/**
 * Give both canvases the size of the stage; false where it is not shown.
 *
 * @param {FeatureMap} map
 */
function fitCanvases({ parts, state }) {
  const { width, height } = parts.stage.getBoundingClientRect();
  if (!width || !height) {
    return false;
  }
  state.size = { width, height };
  state.pixelRatio = Math.min(MAX_PIXEL_RATIO, window.devicePixelRatio || 1);
  for (const canvas of [parts.lines, parts.canvas, parts.overlay]) {
    canvas.width = Math.round(width * state.pixelRatio);
    canvas.height = Math.round(height * state.pixelRatio);
  }
  state.image = penOf(parts.canvas).createImageData(parts.canvas.width, parts.canvas.height);
  return true;
}

/** @param {FeatureMap} map */
function draw(map) {
  const { el, parts, state } = map;
  state.frame = 0;
  if (!state.image) {
    return;
  }
  const start = performance.now();
  drawEdges(penOf(parts.lines), map);
  drawPoints(penOf(parts.canvas), state.image, state, map.model.get('radius'));
  drawOverlay(penOf(parts.overlay), map);
  el.diffnbDraws = { count: (el.diffnbDraws?.count ?? 0) + 1, ms: performance.now() - start };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {ImageData} image
 * @param {State} state
 * @param {number} given radius of a marker at no zoom; 0 for one that fits the number of features
 */
function drawPoints(pen, image, state, given) {
  image.data.fill(0);
  const radius = radiusOf(countOf(state.points), state.viewport.zoom, given) * state.pixelRatio;
  paint(image, state, inDevicePixels(currentTransform(state), state.pixelRatio), radius);
  pen.putImageData(image, 0, 0);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
function penOf(canvas) {
  const pen = canvas.getContext('2d');
  if (!pen) {
    throw new Error('This browser gives no 2D context for the feature map.');
  }
  return pen;
}
