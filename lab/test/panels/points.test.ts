import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boundsOf,
  drawingOrderOf,
  nearestTo,
  steppedFrom,
  steppingOrderOf
} from '../../../diffnb/panels/static/feature_map/points.js';

const points = (...coordinates: number[]) => Float32Array.from(coordinates);
const IDENTITY = { originX: 0, originY: 0, scaleX: 1, scaleY: -1 };

test('bounds enclose all points with a padding', () => {
  assert.deepEqual(boundsOf(points(0, -100, 100, 100, 50, 0)), [-6, 106, -112, 112]);
});

test('points without coordinates are ignored', () => {
  assert.deepEqual(boundsOf(points(0, 0, NaN, 900, 100, Infinity, 100, 100)), [-6, 106, -6, 106]);
  assert.deepEqual([...steppingOrderOf(points(2, 0, NaN, 0, 1, 0))], [2, 0]);
  assert.equal(nearestTo(points(NaN, NaN, 3, 3), IDENTITY, [0, 0]), 1);
});

test('equal values have bounds around them', () => {
  assert.deepEqual(boundsOf(points(5, 0, 5, 0)), [0, 10, -1, 1]);
  assert.deepEqual(boundsOf(points()), [-1, 1, -1, 1]);
});

test('features without a value are drawn first, then the background, then groups', () => {
  assert.deepEqual([...drawingOrderOf(Uint8Array.of(2, 0, 255, 1, 0, 255))], [2, 5, 1, 4, 3, 0]);
});

test('keys step from left to right and wrap around', () => {
  const order = steppingOrderOf(points(3, 0, 1, 1, 1, 0));
  assert.deepEqual([...order], [2, 1, 0]);
  assert.deepEqual([steppedFrom(order, 2, 1), steppedFrom(order, 0, 1), steppedFrom(order, 2, -1)], [1, 2, 0]);
});

test('the first step goes to the first feature, or backwards to the last', () => {
  const order = Uint32Array.of(4, 7, 5);
  assert.deepEqual([steppedFrom(order, -1, 1), steppedFrom(order, -1, -1)], [4, 5]);
  assert.equal(steppedFrom(new Uint32Array(0), -1, 1), -1);
});

test('the nearest feature is found within ten pixels', () => {
  const some = points(0, 0, 20, 0, 20, 3);
  assert.equal(nearestTo(some, IDENTITY, [19, 2]), 2);
  assert.equal(nearestTo(some, IDENTITY, [10, 0]), 1);
  assert.equal(nearestTo(some, IDENTITY, [-11, 0]), -1);
});

test('distances are measured in pixels', () => {
  const some = points(0, 0, 1, 0);
  assert.equal(nearestTo(some, { originX: 0, originY: 0, scaleX: 100, scaleY: 1 }, [52, 0]), -1);
  assert.equal(nearestTo(some, { originX: 0, originY: 0, scaleX: 100, scaleY: 1 }, [93, 0]), 1);
});
