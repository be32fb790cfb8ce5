import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addWithin, countSet, isInside, isSet, maskOf } from '../../../diffnb/panels/static/feature_map/masks.js';
import type { Point } from '../../../diffnb/panels/static/feature_map/types.js';

const SQUARE: Point[] = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10]
];
// open to the right: the notch between the two arms is outside
const HORSESHOE: Point[] = [
  [0, 0],
  [10, 0],
  [10, 3],
  [3, 3],
  [3, 7],
  [10, 7],
  [10, 10],
  [0, 10]
];

test('the first feature is the lowest bit', () => {
  const mask = Uint8Array.of(0b00000001, 0b10000000);
  assert.deepEqual(
    [0, 1, 14, 15, 99].map(i => isSet(mask, i)),
    [1, 0, 0, 1, 0]
  );
});

test('a mask has a bit a feature, and is a copy', () => {
  const other = Uint8Array.of(3);
  const mask = maskOf(9, other);
  assert.deepEqual([...mask], [3, 0]);
  mask[0] = 0;
  assert.deepEqual([...other], [3]);
  assert.deepEqual([...maskOf(4, Uint8Array.of(1, 255))], [1]);
});

test('bits beyond the features are not counted', () => {
  assert.equal(countSet(Uint8Array.of(255), 5), 5);
  assert.equal(countSet(Uint8Array.of(0b101), 8), 2);
  assert.equal(countSet(new Uint8Array(0), 8), 0);
});

test('points inside a lasso are recognized', () => {
  assert.equal(isInside(SQUARE, 5, 5), true);
  for (const [x, y] of [
    [-1, 5],
    [11, 5],
    [5, -1],
    [5, 11]
  ] as const) {
    assert.equal(isInside(SQUARE, x, y), false, `${x}, ${y}`);
  }
});

test('a lasso may be concave, in either direction', () => {
  for (const polygon of [HORSESHOE, [...HORSESHOE].reverse()]) {
    assert.equal(isInside(polygon, 8, 5), false);
    assert.equal(isInside(polygon, 8, 1), true);
    assert.equal(isInside(polygon, 1, 5), true);
  }
});

test('a feature without coordinates is in no lasso', () => {
  assert.equal(isInside(SQUARE, NaN, 5), false);
  assert.equal(isInside(SQUARE, 5, NaN), false);
});

test('features within a lasso on the screen are added to a mask', () => {
  const points = Float32Array.of(0, 0, 5, 5, NaN, 5, 9, 9, 11, 11);
  const mask = maskOf(5, Uint8Array.of(0b00001));
  addWithin(mask, points, { originX: 0, originY: 10, scaleX: 1, scaleY: 1 }, [
    [4, 0],
    [10, 0],
    [10, 6],
    [4, 6]
  ]);
  assert.deepEqual([...mask], [0b01011]);
});
