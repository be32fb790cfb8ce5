import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderAfterClick } from '../../../diffnb/panels/static/feature_table/head.js';
import { placeAfterKey } from '../../../diffnb/panels/static/feature_table/keyboard.js';
import { describeCount } from '../../../diffnb/panels/static/feature_table/rows.js';
import {
  ROW_HEIGHT_PX,
  rowsInView,
  rowsToFetch,
  scrollTopFor
} from '../../../diffnb/panels/static/feature_table/scrolling.js';

const row = { index: 0, on: false, cells: ['a'] };
const page = (start: number, n: number, found: number) => ({ start, rows: Array(n).fill(row), found });
const scrolled = (place: number, height = 10) => ({
  scrollTop: place * ROW_HEIGHT_PX,
  clientHeight: height * ROW_HEIGHT_PX
});

test('rows in view follow from the scroll position', () => {
  assert.deepEqual(rowsInView(scrolled(7)), [7, 17]);
  assert.deepEqual(rowsInView({ scrollTop: 1.5 * ROW_HEIGHT_PX, clientHeight: 30 }), [1, 3]);
});

test('rows that were sent are not requested again', () => {
  assert.equal(rowsToFetch(scrolled(0), page(0, 60, 1000)), null);
  assert.equal(rowsToFetch(scrolled(50), page(0, 60, 1000)), null);
  assert.equal(rowsToFetch(scrolled(995), page(990, 10, 1000)), null, 'there are no rows after the last');
});

test('rows that come into view are requested with spare rows on both sides', () => {
  assert.deepEqual(rowsToFetch(scrolled(51), page(0, 60, 1000)), [31, 81]);
  assert.deepEqual(rowsToFetch(scrolled(5), page(40, 60, 1000)), [0, 50]);
});

test('keys move the cursor within the table', () => {
  assert.equal(placeAfterKey('ArrowDown', -1, 100), 0);
  assert.equal(placeAfterKey('ArrowUp', 0, 100), 0);
  assert.equal(placeAfterKey('PageDown', 95, 100), 99);
  assert.equal(placeAfterKey('Home', 50, 100), 0);
  assert.equal(placeAfterKey('End', 50, 100), 99);
  assert.equal(placeAfterKey('x', 50, 100), null);
  assert.equal(placeAfterKey('toString', 50, 100), null);
});

test('the cursor is scrolled into view, and no further', () => {
  assert.equal(scrollTopFor(scrolled(20), 25), 20 * ROW_HEIGHT_PX);
  assert.equal(scrollTopFor(scrolled(20), 3), 3 * ROW_HEIGHT_PX);
  assert.equal(scrollTopFor(scrolled(20), 40), 32 * ROW_HEIGHT_PX, 'below the head, which covers a row');
});

test('a click on a column sorts by it, a second click reverses the order', () => {
  assert.deepEqual(orderAfterClick([0, false], 2, true), [2, true]);
  assert.deepEqual(orderAfterClick([0, false], 1, false), [1, false]);
  assert.deepEqual(orderAfterClick([2, true], 2, true), [2, false]);
});

test('features are counted, and those selected only where there are some', () => {
  assert.equal(describeCount({ found: 3, selected: 0, all: 250 }), '3 of 250 features');
  assert.equal(describeCount({ found: 3, selected: 2, all: 250 }), '3 of 250 features · 2 selected');
});
