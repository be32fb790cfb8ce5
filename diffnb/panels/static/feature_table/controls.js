// @ts-check
/** Search, filter and buttons above the table. */
/** @import { FeatureTable } from './types.js' */

import { appendButton } from '../shared/dom.js';
import { save } from '../shared/model.js';
import { scrollToTop } from './scrolling.js';

/** Pause in typing after which the kernel searches. */
const TYPING_PAUSE_MS = 150;

/**
 * Add the buttons before the number of features and connect search and filter.
 *
 * @param {FeatureTable} table
 * @param {() => void} download
 */
export function addTools(table, download) {
  const { toolbar, count } = table.parts;
  appendButton(toolbar, 'Select all found', () => table.model.send({ ask: 'select_found' }));
  appendButton(toolbar, 'Clear selection', () => table.model.send({ ask: 'clear' }));
  appendButton(toolbar, 'Download CSV', download);
  toolbar.append(count);
  listenToSearch(table);
  listenToFilter(table);
}

/** @param {FeatureTable} table */
function listenToSearch(table) {
  const { search } = table.parts;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  search.addEventListener('keydown', event => event.stopPropagation()); // the notebook binds letters to commands
  search.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      scrollToTop(table);
      save(table.model, 'query', search.value);
    }, TYPING_PAUSE_MS);
  });
}

/** @param {FeatureTable} table */
function listenToFilter(table) {
  const { onlySelected } = table.parts;
  onlySelected.addEventListener('change', () => {
    scrollToTop(table);
    save(table.model, 'only_selected', onlySelected.checked);
  });
}
