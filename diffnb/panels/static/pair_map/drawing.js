// @ts-check
/** Builds and paints the maps of pairs, and marks a cell in all of them. */
/** @import { PairMap } from './types.js' */

import { asBytes } from '../feature_map/buffers.js';
import { gradientOf } from '../feature_map/legend.js';
import { isSet } from '../feature_map/masks.js';
import { append } from '../shared/dom.js';
import { pixelsOf } from './cells.js';

/** Marks of selected features are lines this wide at the upper and left edges. */
const MARK_SHARE = 0.015;

/**
 * One canvas per condition, with its title; or why there is none.
 *
 * @param {PairMap} pairs
 */
export function buildMaps({ model, maps, legend }) {
  maps.replaceChildren();
  legend.replaceChildren();
  const [titles, size] = [model.get('titles'), model.get('size')];
  if (titles.length === 0 || size === 0) {
    append(maps, 'p', { class: 'diffnb-empty' }, model.get('empty'));
    return;
  }
  for (const title of titles) {
    const figure = append(maps, 'figure', { class: 'diffnb-pairs' });
    append(figure, 'figcaption', {}, title);
    const square = append(figure, 'div', { class: 'diffnb-square' });
    append(square, 'canvas', { width: String(size), height: String(size), 'aria-hidden': 'true' });
    const label = `Correlations of ${size} features, ${title}. Arrow keys move from pair to pair, Enter selects a pair.`;
    append(square, 'canvas', { class: 'diffnb-overlay', role: 'img', tabindex: '0', 'aria-label': label });
    append(square, 'div', { class: 'diffnb-tip', hidden: '' });
  }
  append(legend, 'span', {}, `r ${model.get('low')}`.replace('-', '−'));
  append(legend, 'span', { class: 'diffnb-strip' }).style.background = gradientOf(asBytes(model.get('colors')));
  append(legend, 'span', {}, String(model.get('high')));
}

/** @param {PairMap} pairs */
export function paintMaps({ model, maps }) {
  const [codes, colors, size] = [asBytes(model.get('codes')), asBytes(model.get('colors')), model.get('size')];
  for (const [map, square] of squaresOf(maps).entries()) {
    if (codes.length >= (map + 1) * size * size) {
      const pixels = new ImageData(pixelsOf(codes, colors, size, map), size, size);
      penOf(square, 0).putImageData(pixels, 0, 0);
    }
  }
}

/**
 * Frame the current cell in every map, show its text in its own, and mark the selected features.
 *
 * @param {PairMap} pairs
 * @param {string} text
 */
export function markCell({ model, maps, el, cell }, text) {
  const size = model.get('size');
  const selection = asBytes(model.get('selection'));
  for (const [map, square] of squaresOf(maps).entries()) {
    const pen = penOf(square, 1);
    const { canvas } = pen;
    canvas.width = canvas.height = Math.round(square.clientWidth * (window.devicePixelRatio || 1));
    const unit = canvas.width / size;
    pen.strokeStyle = pen.fillStyle = getComputedStyle(el).color;
    for (let i = 0; i < size && selection.length; i++) {
      if (isSet(selection, i)) {
        pen.fillRect(i * unit, 0, Math.max(1, unit), canvas.height * MARK_SHARE);
        pen.fillRect(0, i * unit, canvas.width * MARK_SHARE, Math.max(1, unit));
      }
    }
    if (cell.map >= 0) {
      pen.lineWidth = 2;
      pen.strokeRect(cell.column * unit - 1, cell.row * unit - 1, unit + 2, unit + 2);
    }
    const tip = /** @type {HTMLElement} */ (square.querySelector('.diffnb-tip'));
    tip.hidden = !text || cell.map !== map;
    tip.textContent = text;
    const [x, y] = [cell.column / size, cell.row / size].map(share => share * square.clientWidth);
    tip.style.left = `${Math.max(0, Math.min(x + 12, square.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = y > square.clientWidth / 2 ? `${y - tip.offsetHeight - 8}px` : `${y + 14}px`;
  }
}

/**
 * @param {HTMLElement} maps
 * @returns {HTMLElement[]}
 */
export function squaresOf(maps) {
  return [...maps.querySelectorAll('.diffnb-square')].filter(node => node instanceof HTMLElement);
}

/**
 * @param {HTMLElement} square
 * @param {0 | 1} layer
 * @returns {CanvasRenderingContext2D}
 */
function penOf(square, layer) {
  const pen = square.querySelectorAll('canvas')[layer]?.getContext('2d');
  if (!pen) {
    throw new Error('This browser gives no 2D context for the maps of pairs.');
  }
  return pen;
}
