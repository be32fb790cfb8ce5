// @ts-check
/** @import { Parts } from './types.js' */

import { append } from '../shared/dom.js';

/**
 * Append the elements of a map. Edges are drawn on one canvas, the points painted on one above it; axes, names and the
 * lasso are drawn on the topmost, which also takes the focus and the pointer.
 *
 * @param {HTMLElement} el
 * @returns {Parts}
 */
export function build(el) {
  el.classList.add('diffnb-map');
  const toolbar = append(el, 'div', { class: 'diffnb-tools', role: 'toolbar', 'aria-label': 'Map tools' });
  const stage = append(el, 'div', { class: 'diffnb-stage' });
  const lines = append(stage, 'canvas', { 'aria-hidden': 'true' });
  const canvas = append(stage, 'canvas', { 'aria-hidden': 'true' });
  const overlay = append(stage, 'canvas', { class: 'diffnb-overlay', role: 'img', tabindex: '0' });
  const tooltip = append(stage, 'div', { class: 'diffnb-tip', hidden: '' });
  const legend = append(el, 'div', { class: 'diffnb-legend' });
  const edgeLegend = append(el, 'div', { class: 'diffnb-legend', hidden: '' });
  const announcer = append(el, 'div', { class: 'diffnb-announcer', role: 'status', 'aria-live': 'polite' });
  const selectionCount = append(toolbar, 'span', { class: 'diffnb-hint' });
  return { toolbar, stage, lines, canvas, overlay, tooltip, legend, edgeLegend, announcer, selectionCount };
}
