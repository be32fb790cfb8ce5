// @ts-check
/** The rows that the kernel has sent, between two spacers with the height of the other rows. */
/** @import { Column, FeatureTable, Page, Row } from './types.js' */

import { append } from '../shared/dom.js';
import { ROW_HEIGHT_PX } from './scrolling.js';

/** @param {FeatureTable} table */
export function showRows(table) {
  const { model, parts } = table;
  const page = model.get('page');
  const columns = model.get('columns');
  parts.table.setAttribute('aria-rowcount', String(page.found + 1));
  parts.body.replaceChildren();
  appendSpacer(parts.body, page.start, columns.length + 1);
  page.rows.forEach((row, i) => {
    appendRow(table, columns, row, page.start + i);
  });
  appendSpacer(parts.body, Math.max(0, page.found - page.start - page.rows.length), columns.length + 1);
  parts.count.textContent = describeCount(page);
  parts.onlySelected.checked = model.get('only_selected');
  markCurrent(table);
}

/**
 * @param {Pick<Page, 'found' | 'selected' | 'all'>} page
 */
export function describeCount({ found, selected, all }) {
  return `${found} of ${all} features${selected ? ` · ${selected} selected` : ''}`;
}

/**
 * @param {HTMLElement} body
 * @param {number} nRows
 * @param {number} nColumns
 */
function appendSpacer(body, nRows, nColumns) {
  const cell = append(append(body, 'tr', { class: 'diffnb-spacer' }), 'td', { colspan: String(nColumns) });
  cell.style.height = `${nRows * ROW_HEIGHT_PX}px`;
}

/**
 * @param {FeatureTable} table
 * @param {readonly Column[]} columns
 * @param {Row} row
 * @param {number} place
 */
function appendRow(table, columns, row, place) {
  const line = append(table.parts.body, 'tr', {
    class: 'diffnb-row',
    'aria-rowindex': String(place + 2), // counted from 1, and the head is a row, too
    'aria-selected': String(row.on),
    'data-place': String(place)
  });
  const box = append(append(line, 'td', { class: 'diffnb-tick' }), 'input', {
    type: 'checkbox',
    tabindex: '-1',
    'aria-label': `select ${row.cells[0]}`
  });
  box.checked = row.on;
  row.cells.forEach((text, i) => {
    append(line, 'td', { class: columns[i].number ? 'diffnb-number' : '', title: text }, text);
  });
  line.addEventListener('click', () => toggleRow(table, place, row));
}

/**
 * Move the cursor to a row, and select it or take it out of the selection.
 *
 * @param {FeatureTable} table
 * @param {number} place
 * @param {Row} row
 */
export function toggleRow(table, place, row) {
  table.current = place;
  table.model.send({ ask: 'toggle', index: row.index });
  markCurrent(table);
}

/** @param {FeatureTable} table */
export function markCurrent({ parts, current }) {
  for (const line of parts.body.querySelectorAll('.diffnb-row')) {
    line.classList.toggle('diffnb-current', line.getAttribute('data-place') === String(current));
  }
}
