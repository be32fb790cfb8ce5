// @ts-check
/** Which rows are in view, and when others are requested from the kernel. */
/** @import { Cleanup } from '../types.js' */
/** @import { FeatureTable, Page } from './types.js' */

import { save } from '../shared/model.js';

/** Height of a row in `feature_table.css`. */
export const ROW_HEIGHT_PX = 26;

/** Rows that are requested above and below those in view. */
const SPARE_ROWS = 20;

const SCROLLING_PAUSE_MS = 40;

/**
 * Places of the first row in view and of the first one below.
 *
 * @param {{ readonly scrollTop: number, readonly clientHeight: number }} scroller
 * @returns {[start: number, stop: number]}
 */
export function rowsInView({ scrollTop, clientHeight }) {
  const start = Math.floor(scrollTop / ROW_HEIGHT_PX);
  return [start, start + Math.ceil(clientHeight / ROW_HEIGHT_PX)];
}

/**
 * The rows to request: those in view and spare ones; null if the page has all rows in view.
 *
 * @param {{ readonly scrollTop: number, readonly clientHeight: number }} scroller
 * @param {Pick<Page, 'start' | 'rows' | 'found'>} page
 * @returns {[start: number, stop: number] | null}
 */
export function rowsToFetch(scroller, { start, rows, found }) {
  const [first, end] = rowsInView(scroller);
  if (first >= start && Math.min(found, end) <= start + rows.length) {
    return null;
  }
  const from = Math.max(0, first - SPARE_ROWS);
  return [from, from + end - first + 2 * SPARE_ROWS];
}

/**
 * The scroll position at which a row is in view below the head, as near as possible to the present one.
 *
 * @param {{ readonly scrollTop: number, readonly clientHeight: number }} scroller
 * @param {number} place
 */
export function scrollTopFor({ scrollTop, clientHeight }, place) {
  const highest = place * ROW_HEIGHT_PX;
  const lowest = (place + 2) * ROW_HEIGHT_PX - clientHeight;
  return Math.max(Math.min(scrollTop, highest), lowest);
}

/** @param {FeatureTable} table */
export function scrollToTop(table) {
  table.parts.scroller.scrollTop = 0;
  table.current = -1;
}

/**
 * Request rows when they come into view, until the result is called.
 *
 * @param {FeatureTable} table
 * @returns {Cleanup}
 */
export function fetchOnScroll({ model, parts: { scroller } }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;

  function fetchRows() {
    const wanted = rowsToFetch(scroller, model.get('page'));
    // a table in a tab that is not open has no height
    if (scroller.clientHeight && wanted) {
      save(model, 'window', wanted);
    }
  }

  function fetchSoon() {
    clearTimeout(pause);
    pause = setTimeout(fetchRows, SCROLLING_PAUSE_MS);
  }

  scroller.addEventListener('scroll', fetchSoon, { passive: true });
  const observer = new ResizeObserver(fetchSoon);
  observer.observe(scroller);
  return () => {
    observer.disconnect();
    clearTimeout(pause);
  };
}
