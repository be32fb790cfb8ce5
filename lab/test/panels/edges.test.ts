import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsOf, isLookedAt, NO_EDGES } from '../../../diffnb/panels/static/feature_map/edges.js';
import {
  ALL_IN_VIEW,
  plotArea,
  transformOf,
  withEqualScales
} from '../../../diffnb/panels/static/feature_map/geometry.js';
import { cellAt, cellBeside, NO_CELL, pixelsOf } from '../../../diffnb/panels/static/pair_map/cells.js';

const NOTHING = { hovered: -1, focused: -1, nSelected: 0, selection: Uint8Array.of(0) };

test('edges of one look and width are one stroke, the weakest first', () => {
  const looks = Uint8Array.of(1, 0, 1, 0);
  const strengths = Uint8Array.of(255, 0, 250, 10);
  const buckets = bucketsOf({ ends: new Uint32Array(8), looks, strengths });
  assert.deepEqual(
    buckets.map(({ look, members }) => [look, members]),
    [
      [0, [1, 3]],
      [1, [0, 2]]
    ]
  );
  assert.deepEqual(bucketsOf(NO_EDGES), []);
});

test('all edges are looked at until a feature is pointed at or selected', () => {
  assert.equal(isLookedAt(NOTHING, 0, 1), true);
  assert.equal(isLookedAt({ ...NOTHING, hovered: 2 }, 0, 1), false);
  assert.equal(isLookedAt({ ...NOTHING, hovered: 1 }, 0, 1), true);
  const selected = { ...NOTHING, nSelected: 1, selection: Uint8Array.of(0b100) };
  assert.equal(isLookedAt(selected, 0, 1), false);
  assert.equal(isLookedAt(selected, 1, 2), true);
});

test('a square of an image stays a square on a wide map', () => {
  const size = { width: 900, height: 300 };
  const bounds = withEqualScales([0, 10, -10, 0], size);
  const { scaleX, scaleY } = transformOf(size, bounds, ALL_IN_VIEW);
  assert.ok(Math.abs(scaleX - scaleY) < 1e-9);
  assert.ok(scaleY * 10 <= plotArea(size).height + 1e-9);
  assert.ok(Math.abs((bounds[0] + bounds[1]) / 2 - 5) < 1e-9);
});

test('each map of pairs has its own pixels, transparent where there is no value', () => {
  const codes = Uint8Array.of(255, 0, 0, 255, 1, 1, 1, 1);
  const colors = Uint8Array.of(10, 20, 30, 40, 50, 60);
  assert.deepEqual([...pixelsOf(codes, colors, 2, 0).subarray(0, 8)], [0, 0, 0, 0, 10, 20, 30, 255]);
  assert.deepEqual([...pixelsOf(codes, colors, 2, 1).subarray(0, 4)], [40, 50, 60, 255]);
});

test('a place is a pair, outside of the square it is none', () => {
  assert.deepEqual(cellAt(1, 10, 200, 39, 5), { map: 1, row: 0, column: 1 });
  assert.equal(cellAt(0, 10, 200, 200, 5), NO_CELL);
  assert.equal(cellAt(0, 10, 200, 5, -1), NO_CELL);
});

test('arrow keys move from pair to pair and stay within the square', () => {
  const start = cellBeside(NO_CELL, 1, 5, 'ArrowDown');
  assert.deepEqual(start, { map: 1, row: 0, column: 1 });
  assert.deepEqual(cellBeside({ map: 1, row: 4, column: 1 }, 1, 5, 'ArrowDown'), { map: 1, row: 4, column: 1 });
  assert.deepEqual(cellBeside({ map: 1, row: 4, column: 1 }, 1, 5, 'ArrowRight'), { map: 1, row: 4, column: 2 });
  assert.equal(cellBeside(NO_CELL, 1, 5, 'a'), null);
});
