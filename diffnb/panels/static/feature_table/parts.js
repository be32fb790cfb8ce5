// @ts-check
/** @import { Parts } from './types.js' */

import { append, appendInput } from '../shared/dom.js';

/**
 * Append the elements of a table.
 *
 * @param {HTMLElement} el
 * @returns {Parts}
 */
export function build(el) {
  el.classList.add('diffnb-table');
  const toolbar = append(el, 'div', { class: 'diffnb-tools' });
  const search = appendInput(toolbar, 'Search', { type: 'search', placeholder: 'part of a name or group' });
  const onlySelected = appendInput(toolbar, 'Selected only', { type: 'checkbox' });
  const count = append(toolbar, 'span', {
    class: 'diffnb-hint diffnb-counted',
    role: 'status',
    'aria-live': 'polite'
  });
  const scroller = append(el, 'div', {
    class: 'diffnb-scroller',
    role: 'region',
    tabindex: '0',
    'aria-label': 'Features: arrows move, Space selects'
  });
  const table = append(scroller, 'table');
  const head = append(append(table, 'thead'), 'tr');
  const body = append(table, 'tbody');
  return { toolbar, search, onlySelected, count, scroller, table, head, body };
}
