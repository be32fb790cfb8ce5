// @ts-check
/** A table of features of which only the visible rows are sent: the kernel searches and sorts. */
/** @import { Message, View } from '../types.js' */
/** @import { FeatureTable, TableTraits } from './types.js' */

import { listen } from '../shared/model.js';
import { addTools } from './controls.js';
import { createDownload } from './download.js';
import { showHead } from './head.js';
import { listenToKeys } from './keyboard.js';
import { build } from './parts.js';
import { showRows } from './rows.js';
import { fetchOnScroll, scrollToTop } from './scrolling.js';

/** @param {View<TableTraits>} view */
function render({ model, el }) {
  /** @type {FeatureTable} */
  const table = { model, el, parts: build(el), current: -1 };
  const download = createDownload(table);
  addTools(table, download.start);
  listenToKeys(table);
  showQuery(table);
  showHead(table);
  showRows(table);
  const cleanups = [listen(model, kernelEvents(table, download.receive)), fetchOnScroll(table)];
  return () => {
    for (const cleanup of cleanups) {
      cleanup();
    }
  };
}

/**
 * @param {FeatureTable} table
 * @param {(message: Message) => void} onMessage
 */
function kernelEvents(table, onMessage) {
  return {
    'change:columns': () => {
      showHead(table);
      scrollToTop(table);
    },
    'change:order': () => showHead(table),
    'change:page': () => showRows(table),
    'change:query': () => showQuery(table),
    'msg:custom': onMessage
  };
}

/** @param {FeatureTable} table */
function showQuery({ model, parts }) {
  // only where it differs: setting a value moves the caret of someone who is typing
  if (parts.search.value !== model.get('query')) {
    parts.search.value = model.get('query');
  }
}

export default { render };
