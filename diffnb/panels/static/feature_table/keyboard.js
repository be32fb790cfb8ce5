// @ts-check
/** @import { FeatureTable } from './types.js' */

import { markCurrent, toggleRow } from './rows.js';
import { scrollTopFor } from './scrolling.js';

/** @type {Readonly<Record<string, number>>} */
const MOVES = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -Infinity, End: Infinity };

/**
 * The row of the cursor after a key; null for a key that does not move it.
 *
 * @param {string} key
 * @param {number} current
 * @param {number} nRows
 */
export function placeAfterKey(key, current, nRows) {
  return Object.hasOwn(MOVES, key) ? Math.min(nRows - 1, Math.max(0, current + MOVES[key])) : null;
}

/** @param {FeatureTable} table */
export function listenToKeys(table) {
  table.parts.scroller.addEventListener('keydown', event => {
    if (moveCursor(table, event.key) || toggleCurrent(table, event)) {
      event.preventDefault();
      event.stopPropagation(); // the notebook binds some of these keys, too
    }
  });
}

/**
 * Move the cursor; false for a key that does not.
 *
 * @param {FeatureTable} table
 * @param {string} key
 */
function moveCursor(table, key) {
  const place = placeAfterKey(key, table.current, table.model.get('page').found);
  if (place === null) {
    return false;
  }
  table.current = place;
  table.parts.scroller.scrollTop = scrollTopFor(table.parts.scroller, place);
  markCurrent(table);
  return true;
}

/**
 * Toggle the row at the cursor; false for other keys, for keys of the elements within, and where there is no row.
 *
 * @param {FeatureTable} table
 * @param {KeyboardEvent} event
 */
function toggleCurrent(table, event) {
  const { start, rows } = table.model.get('page');
  const row = rows[table.current - start];
  if ((event.key !== ' ' && event.key !== 'Enter') || event.target !== table.parts.scroller || !row) {
    return false;
  }
  toggleRow(table, table.current, row);
  return true;
}
