// @ts-check
/** Draws what is above the points: axes, names, rings around features, the lasso. */
/** @import { FeatureMap, Point } from './types.js' */

import { drawAxes } from './axes.js';
import { drawLabels } from './labels.js';
import { currentTransform, pixelOf } from './navigation.js';

const RING_RADIUS_PX = 7;
const LASSO_FILL_OPACITY = 0.12;

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {FeatureMap} map
 */
export function drawOverlay(pen, map) {
  const { el, state } = map;
  const style = getComputedStyle(el);
  const transform = currentTransform(state);
  pen.setTransform(state.pixelRatio, 0, 0, state.pixelRatio, 0, 0);
  pen.clearRect(0, 0, state.size.width, state.size.height);
  pen.font = `12px ${style.fontFamily || 'sans-serif'}`;
  pen.fillStyle = pen.strokeStyle = style.color;
  pen.lineWidth = 1;
  drawAxes(pen, map, transform);
  drawLabels(pen, map, transform, style.getPropertyValue('--diffnb-page').trim() || '#fff');
  for (const feature of [state.hovered, state.focused]) {
    if (feature >= 0) {
      drawRing(pen, pixelOf(state, feature));
    }
  }
  if (state.drag?.lasso) {
    drawLasso(pen, state.drag.lasso);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Point} center
 */
function drawRing(pen, [x, y]) {
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, RING_RADIUS_PX, 0, 2 * Math.PI);
  pen.stroke();
  pen.lineWidth = 1;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {readonly Point[]} lasso
 */
function drawLasso(pen, lasso) {
  pen.beginPath();
  for (const [x, y] of lasso) {
    pen.lineTo(x, y);
  }
  pen.closePath();
  pen.globalAlpha = LASSO_FILL_OPACITY;
  pen.fill();
  pen.globalAlpha = 1;
  pen.setLineDash([4, 3]);
  pen.stroke();
  pen.setLineDash([]);
}
