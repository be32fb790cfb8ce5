// @ts-check
/** Paints all points into the pixels of an image. */
/** @import { Brush, Features, Surface, Transform } from './types.js' */

import { N_SHAPES, stampOf } from './markers.js';
import { isSet } from './masks.js';

const [NO_VALUE, BACKGROUND] = [255, 0];
/** @type {Brush['rgb']} */
const NO_VALUE_RGB = [150, 150, 150];

/** Markers further outside the image cannot reach into it. */
const MAX_REACH_PX = 20;

/** Radius of a marker in CSS pixels, up to a number of points; 200,000 points of one pixel pan smoothly. */
const RADII = [
  [1000, 3.8],
  [5000, 2.8],
  [30_000, 2.1],
  [100_000, 1.2]
];
const MIN_RADIUS_PX = 0.8;

const SELECTED_GROWTH = 1.35;
const OPACITY = { group: 0.9, background: 0.6, notSelected: 0.18, selected: 1 };

/**
 * Radius of a marker, in CSS pixels: smaller for more features, larger at higher zoom.
 *
 * @param {number} nFeatures
 * @param {number} zoom
 * @param {number} [given] the radius without zoom; 0 for one that fits the number
 */
export function radiusOf(nFeatures, zoom, given = 0) {
  const radius = given || (RADII.find(([most]) => nFeatures <= most)?.[1] ?? MIN_RADIUS_PX);
  return radius * Math.min(2, zoom ** 0.25);
}

/**
 * A brush for each code, for features that are selected or not.
 *
 * @param {Features} features
 * @param {number} radius
 * @param {boolean} selected
 * @returns {Brush[]}
 */
export function brushesOf({ colors, shapes, nSelected }, radius, selected) {
  const grown = selected ? radius * SELECTED_GROWTH : radius;
  const stamps = Array.from({ length: N_SHAPES }, (_, shape) => stampOf(shape, grown));
  return Array.from({ length: 256 }, (_, code) => {
    const plain = code === NO_VALUE || code === BACKGROUND ? OPACITY.background : OPACITY.group;
    const opacity = nSelected === 0 ? plain : selected ? OPACITY.selected : OPACITY.notSelected;
    return code === NO_VALUE
      ? { stamp: stamps[0], rgb: NO_VALUE_RGB, opacity }
      : {
          stamp: stamps[shapes[code] ?? 0],
          rgb: [colors[3 * code], colors[3 * code + 1], colors[3 * code + 2]],
          opacity
        };
  });
}

/**
 * Paint all features, the selected ones above the others.
 *
 * @param {Surface} image
 * @param {Features} features
 * @param {Transform} transform in device pixels, as is the radius
 * @param {number} radius
 */
export function paint(image, features, transform, radius) {
  const { points, codes, selection, nSelected, drawingOrder } = features;
  const { originX, originY, scaleX, scaleY } = transform;
  // read once: to ask an ImageData for its pixels at every point would double the time
  const surface = { data: image.data, width: image.width, height: image.height };
  for (const pass of nSelected ? [0, 1] : [0]) {
    const brushes = brushesOf(features, radius, pass === 1);
    for (const i of drawingOrder) {
      if (nSelected && isSet(selection, i) !== pass) {
        continue;
      }
      const x = Math.round(originX + points[2 * i] * scaleX);
      const y = Math.round(originY - points[2 * i + 1] * scaleY);
      if (isNear(surface, x, y)) {
        dab(surface, brushes[codes[i]], x, y);
      }
    }
  }
}

/**
 * Whether a marker at a pixel may be seen; false for features without coordinates.
 *
 * @param {Surface} surface
 * @param {number} x
 * @param {number} y
 */
function isNear({ width, height }, x, y) {
  return x > -MAX_REACH_PX && y > -MAX_REACH_PX && x < width + MAX_REACH_PX && y < height + MAX_REACH_PX;
}

/**
 * Blend one marker into the pixels.
 *
 * @param {Surface} surface
 * @param {Brush} brush
 * @param {number} x
 * @param {number} y
 */
function dab({ data, width, height }, { stamp, rgb, opacity }, x, y) {
  const { dx, dy, coverage } = stamp;
  const [red, green, blue] = rgb;
  for (let m = 0; m < coverage.length; m++) {
    const px = x + dx[m];
    const py = y + dy[m];
    if (px < 0 || py < 0 || px >= width || py >= height) {
      continue;
    }
    const at = 4 * (py * width + px);
    const above = coverage[m] * opacity;
    const below = data[at + 3] / 255;
    const alpha = above + below * (1 - above);
    const share = above / alpha;
    data[at] += (red - data[at]) * share;
    data[at + 1] += (green - data[at + 1]) * share;
    data[at + 2] += (blue - data[at + 2]) * share;
    data[at + 3] = alpha * 255;
  }
}
