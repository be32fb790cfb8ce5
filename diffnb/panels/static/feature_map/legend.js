// @ts-check
/** Groups with their markers, or a scale of numbers. */
/** @import { EdgeLook, Legend, LegendItem } from './types.js' */

import { append } from '../shared/dom.js';
import { formatNumber } from './axes.js';

/** Every so many colours of the palette are enough for the gradient of a scale. */
const GRADIENT_STRIDE = 16;

/**
 * @param {HTMLElement} element
 * @param {Legend} legend
 * @param {Uint8Array} colors
 */
export function showLegend(element, { title = '', items = [], low, high, more }, colors) {
  element.replaceChildren();
  append(element, 'strong', {}, title);
  if (typeof low === 'number' && typeof high === 'number') {
    appendScale(element, low, high, colors);
  }
  for (const item of items) {
    appendGroup(element, item);
  }
  if (more) {
    element.append(`and ${more} more`);
  }
}

/**
 * Kinds of edges; hidden where there are none.
 *
 * @param {HTMLElement} element
 * @param {readonly EdgeLook[]} looks
 */
export function showEdgeLegend(element, looks) {
  element.replaceChildren();
  element.hidden = looks.length === 0;
  for (const { label, color, dash, count } of looks) {
    const entry = append(element, 'span', { class: 'diffnb-entry' });
    const kind = dash.length === 0 ? 'solid' : dash[0] > 3 ? 'dashed' : 'dotted';
    append(entry, 'i', { class: 'diffnb-line' }).style.borderTop = `3px ${kind} ${color}`;
    append(entry, 'span', {}, `${label} (${count})`);
  }
}

/**
 * The colours of a palette as a CSS gradient.
 *
 * @param {Uint8Array} colors red, green and blue of each level
 */
export function gradientOf(colors) {
  const stops = [];
  for (let i = 0; i < colors.length; i += 3 * GRADIENT_STRIDE) {
    stops.push(`rgb(${colors[i]},${colors[i + 1]},${colors[i + 2]})`);
  }
  return `linear-gradient(to right, ${stops.join(',')})`;
}

/**
 * @param {HTMLElement} parent
 * @param {number} low
 * @param {number} high
 * @param {Uint8Array} colors
 */
function appendScale(parent, low, high, colors) {
  append(parent, 'span', {}, formatNumber(low));
  append(parent, 'span', { class: 'diffnb-strip' }).style.background = gradientOf(colors);
  append(parent, 'span', {}, formatNumber(high));
}

/**
 * @param {HTMLElement} parent
 * @param {LegendItem} item
 */
function appendGroup(parent, { label, color, shape, count }) {
  const entry = append(parent, 'span', { class: 'diffnb-entry' });
  append(entry, 'i', { class: `diffnb-dot diffnb-shape-${shape}` }).style.background = color;
  append(entry, 'span', {}, `${label} (${count})`);
}
