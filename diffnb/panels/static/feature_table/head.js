// @ts-check
/** Names of the columns, which sort the table. */
/** @import { FeatureTable, TableTraits } from './types.js' */

import { append } from '../shared/dom.js';
import { save } from '../shared/model.js';

/** @param {FeatureTable} table */
export function showHead(table) {
  const { model, parts } = table;
  const order = model.get('order');
  parts.head.replaceChildren();
  append(parts.head, 'th', { class: 'diffnb-tick', 'aria-label': 'selected' });
  model.get('columns').forEach((column, i) => {
    const sorted = i === order[0] ? (order[1] ? 'descending' : 'ascending') : 'none';
    const cell = append(parts.head, 'th', {
      class: column.number ? 'diffnb-number' : '',
      scope: 'col',
      'aria-sort': sorted
    });
    const attributes = { type: 'button', title: `Order by ${column.name}` };
    const button = append(cell, 'button', attributes, column.name + ARROWS[sorted]);
    button.addEventListener('click', () => save(model, 'order', orderAfterClick(model.get('order'), i, column.number)));
  });
}

const ARROWS = { ascending: ' ▲', descending: ' ▼', none: '' };

/**
 * The order after a click on a column: reversed for the sorted column; otherwise descending for numbers and
 * ascending for names.
 *
 * @param {TableTraits['order']} order
 * @param {number} column
 * @param {boolean} isNumber
 * @returns {TableTraits['order']}
 */
export function orderAfterClick([sorted, descending], column, isNumber) {
  return [column, column === sorted ? !descending : isNumber];
}
