import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber, niceTicks } from '../../../diffnb/panels/static/feature_map/axes.js';
import { boxBeside, overlap, shortened } from '../../../diffnb/panels/static/feature_map/labels.js';

test('ticks are round numbers within the bounds', () => {
  assert.deepEqual(niceTicks(-1.1, 1.1, 5), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(niceTicks(3, 42, 4), [10, 20, 30, 40]);
  assert.deepEqual(niceTicks(120, 480, 2), [200, 400]);
});

test('the tick at zero is exactly zero', () => {
  assert.ok(niceTicks(-0.3, 0.3, 6).includes(0));
});

test('bounds without extent have no ticks', () => {
  assert.deepEqual(niceTicks(1, 1, 5), []);
  assert.deepEqual(niceTicks(2, 1, 5), []);
  assert.deepEqual(niceTicks(0, Infinity, 5), []);
});

test('numbers have three digits and a minus sign', () => {
  assert.equal(formatNumber(-0.30000000000000004), '−0.3');
  assert.equal(formatNumber(1234.56), '1230');
  assert.equal(formatNumber(0), '0');
});

test('long names are shortened in the middle', () => {
  assert.equal(shortened('feature_1'), 'feature_1');
  assert.equal(shortened('ENSG00000139618.15_BRCA2_exon7'), 'ENSG000001396…A2_exon7');
});

test('a label is placed to the right of its point, or to the left at the edge', () => {
  assert.deepEqual(boxBeside([100, 50], 30, 200), [108, 43, 138, 57]);
  assert.deepEqual(boxBeside([180, 50], 30, 200), [142, 43, 172, 57]);
});

test('labels overlap when they share more than an edge', () => {
  assert.equal(overlap([0, 0, 10, 10], [9, 9, 20, 20]), true);
  assert.equal(overlap([0, 0, 10, 10], [10, 0, 20, 10]), false);
  assert.equal(overlap([0, 0, 10, 10], [0, 11, 10, 20]), false);
});
