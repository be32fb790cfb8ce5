import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gradientOf } from '../../../diffnb/panels/static/feature_map/legend.js';
import { N_SHAPES, stampOf } from '../../../diffnb/panels/static/feature_map/markers.js';
import { drawingOrderOf } from '../../../diffnb/panels/static/feature_map/points.js';
import { paint, radiusOf } from '../../../diffnb/panels/static/feature_map/raster.js';
import type { Features, Surface } from '../../../diffnb/panels/static/feature_map/types.js';

const IDENTITY = { originX: 0, originY: 0, scaleX: 1, scaleY: -1 };
const [GREY, RED, BLUE] = [
  [100, 100, 100],
  [255, 0, 0],
  [0, 0, 255]
];

function image(width = 20, height = 20): Surface {
  return { data: new Uint8ClampedArray(4 * width * height), width, height };
}

function pixel({ data, width }: Surface, x: number, y: number): number[] {
  return [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];
}

/** Features at the given places, code 0 grey, 1 red, 2 blue. */
function features(points: number[], codes: number[], selection = 0): Features {
  return {
    points: Float32Array.from(points),
    codes: Uint8Array.from(codes),
    colors: Uint8Array.from([GREY, RED, BLUE].flat() as number[]),
    shapes: Uint8Array.of(0, 0, 0),
    selection: Uint8Array.of(selection),
    nSelected: selection === 0 ? 0 : 1,
    drawingOrder: drawingOrderOf(Uint8Array.from(codes))
  };
}

test('a feature is a spot of its colour', () => {
  const surface = image();
  paint(surface, features([5, 5], [1]), IDENTITY, 2);
  assert.deepEqual(pixel(surface, 5, 5), [255, 0, 0, 230]);
  assert.deepEqual(pixel(surface, 9, 9), [0, 0, 0, 0]);
});

test('a group covers the background, which is fainter', () => {
  const surface = image();
  paint(surface, features([5, 5, 5, 5, 15, 15], [1, 0, 0]), IDENTITY, 2);
  const [red, green] = pixel(surface, 5, 5) as [number, number];
  assert.ok(red > 220 && green < 25);
  assert.deepEqual(pixel(surface, 15, 15), [100, 100, 100, 153]);
});

test('a feature without a value is grey, and one without coordinates is not drawn', () => {
  const surface = image();
  paint(surface, features([5, 5, NaN, 15], [255, 1]), IDENTITY, 2);
  assert.deepEqual(pixel(surface, 5, 5).slice(0, 3), [150, 150, 150]);
  assert.ok([...surface.data.subarray(4 * 20 * 10)].every(value => value === 0));
});

test('a selected feature lies above the others, which fade', () => {
  const surface = image();
  paint(surface, features([5, 5, 5, 5, 15, 15], [1, 2, 2], 0b001), IDENTITY, 2);
  assert.deepEqual(pixel(surface, 5, 5), [255, 0, 0, 255]);
  assert.deepEqual(pixel(surface, 15, 15), [0, 0, 255, 46]);
});

test('markers at the edge are clipped, and distant ones skipped', () => {
  const surface = image();
  paint(surface, features([0, 0, 1000, 5, -1000, 5], [1, 1, 1]), IDENTITY, 3);
  assert.equal(pixel(surface, 0, 0)[0], 255);
  assert.equal(pixel(surface, 19, 0)[3], 0, 'nothing wraps around to the other side');
  assert.equal(pixel(surface, 19, 5)[3], 0);
});

test('markers of all shapes have about the same area', () => {
  const areas = Array.from({ length: N_SHAPES }, (_, shape) =>
    stampOf(shape, 6).coverage.reduce((sum, share) => sum + share, 0)
  );
  const disc = areas[0] as number;
  assert.ok(Math.abs(disc - Math.PI * 36) < 5, `${disc}`);
  for (const area of areas) {
    assert.ok(area > 0.7 * disc && area < 1.4 * disc, `${areas}`);
  }
});

test('a marker covers its centre fully and its edge partly', () => {
  for (let shape = 0; shape < N_SHAPES; shape++) {
    const { dx, dy, coverage } = stampOf(shape, 3);
    const centre = dx.findIndex((x, i) => x === 0 && dy[i] === 0);
    assert.equal(coverage[centre], 1);
    assert.ok(coverage.some(share => share < 1));
    assert.ok(coverage.every(share => share > 0 && share <= 1));
  }
});

test('markers are smaller for more features and grow with the zoom, at most twofold', () => {
  assert.ok(radiusOf(100, 1) > radiusOf(2000, 1) && radiusOf(2000, 1) > radiusOf(20_000, 1));
  assert.ok(radiusOf(100, 4) > radiusOf(100, 1));
  assert.equal(radiusOf(100, 400), 2 * radiusOf(100, 1));
});

test('the gradient of a scale goes through its colours', () => {
  const colors = Uint8Array.from({ length: 3 * 33 }, (_, i) => Math.floor(i / 3));
  assert.equal(gradientOf(colors), 'linear-gradient(to right, rgb(0,0,0),rgb(16,16,16),rgb(32,32,32))');
});
