// @ts-check
/** @import { Parts } from './types.js' */

import { append } from '../shared/dom.js';

/**
 * Append the elements of a map. The points are painted on one canvas; axes, names and the lasso are drawn on another
 * above it, which also takes the focus and the pointer.
 *
 * @param {HTMLElement} el
 * @returns {Parts}
 */
export function build(el) {
  el.classList.add('diffnb-map');
  const toolbar = append(el, 'div', { class: 'diffnb-tools', role: 'toolbar', 'aria-label': 'Map tools' });
  const stage = append(el, 'div', { class: 'diffnb-stage' });
  const canvas = append(stage, 'canvas', { 'aria-hidden': 'true' });
  const overlay = append(stage, 'canvas', { class: 'diffnb-overlay', role: 'img', tabindex: '0' });
  const tooltip = append(stage, 'div', { class: 'diffnb-tip', hidden: '' });
  const legend = append(el, 'div', { class: 'diffnb-legend' });
  const announcer = append(el, 'div', { class: 'diffnb-announcer', role: 'status', 'aria-live': 'polite' });
  const selectionCount = append(toolbar, 'span', { class: 'diffnb-hint' });
  return { toolbar, stage, canvas, overlay, tooltip, legend, announcer, selectionCount };
}
