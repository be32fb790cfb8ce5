import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL_IN_VIEW,
  inDevicePixels,
  MARGIN,
  panned,
  plotArea,
  toData,
  toPixel,
  transformOf,
  zoomed
} from '../../../diffnb/panels/static/feature_map/geometry.js';
import type { Bounds, Point } from '../../../diffnb/panels/static/feature_map/types.js';

const SIZE = { width: 676, height: 446 };
const BOUNDS: Bounds = [-2, 4, 10, 30];

function assertNear(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  for (const [i, value] of actual.entries()) {
    assert.ok(Math.abs(value - (expected[i] as number)) < 1e-9, `${actual} is not ${expected}`);
  }
}

test('the plot is the map without its margin', () => {
  const area = plotArea(SIZE);
  assert.deepEqual([area.width, area.height], [600, 400]);
  assert.deepEqual([area.left, area.top], [MARGIN.left, MARGIN.top]);
});

test('the bounds of the data map to the corners of the plot, with y upwards', () => {
  const transform = transformOf(SIZE, BOUNDS, ALL_IN_VIEW);
  const { left, right, top, bottom } = plotArea(SIZE);
  assertNear(toPixel(transform, -2, 10), [left, bottom]);
  assertNear(toPixel(transform, 4, 30), [right, top]);
  assertNear(toPixel(transform, 1, 20), [(left + right) / 2, (top + bottom) / 2]);
});

test('toData inverts toPixel at any zoom', () => {
  const transform = transformOf(SIZE, BOUNDS, { zoom: 37, x: 0.2, y: -0.4 });
  for (const [x, y] of [
    [0, 0],
    [3.25, 11],
    [-100, 1e3]
  ] as const) {
    assertNear(toData(transform, toPixel(transform, x, y)), [x, y]);
  }
});

test('device pixels are a multiple of CSS pixels', () => {
  const transform = transformOf(SIZE, BOUNDS, { zoom: 3, x: 0.1, y: 0.1 });
  const [x, y] = toPixel(transform, 1.5, 12);
  assertNear(toPixel(inDevicePixels(transform, 2), 1.5, 12), [2 * x, 2 * y]);
});

test('zooming keeps the data under the pointer in place', () => {
  const pointer: Point = [200, 333];
  const start = { zoom: 2, x: -0.1, y: 0.3 };
  const before = toData(transformOf(SIZE, BOUNDS, start), pointer);
  const viewport = zoomed(start, SIZE, 1.7, pointer);
  assert.equal(viewport.zoom, 2 * 1.7);
  assertNear(toData(transformOf(SIZE, BOUNDS, viewport), pointer), before);
});

test('zooming without a pointer keeps the centre in place', () => {
  assert.deepEqual(zoomed({ zoom: 2, x: 0.25, y: -0.5 }, SIZE, 3), { zoom: 6, x: 0.25, y: -0.5 });
});

test('zoom has limits', () => {
  assert.equal(zoomed(ALL_IN_VIEW, SIZE, 1e9).zoom, 400);
  assert.equal(zoomed(ALL_IN_VIEW, SIZE, 1e-9).zoom, 0.5);
});

test('panning moves the data with the pointer, whatever the zoom', () => {
  const start = { zoom: 5, x: 0.2, y: 0.1 };
  const [x, y] = toPixel(transformOf(SIZE, BOUNDS, start), 1, 15);
  const moved = transformOf(SIZE, BOUNDS, panned(start, SIZE, 30, -12));
  assertNear(toPixel(moved, 1, 15), [x + 30, y - 12]);
});
