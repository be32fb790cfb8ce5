// @ts-check
/** Lines between features, below the points: the edges of a network. */
/** @import { Edges, EdgeLook, FeatureMap, State, Transform } from './types.js' */

import { toPixel } from './geometry.js';
import { isSet } from './masks.js';
import { currentTransform } from './navigation.js';
import { countOf } from './points.js';
import { radiusOf } from './raster.js';

/** Edges are drawn in so many widths, so that few strokes are enough for all. */
const N_WIDTHS = 4;
const [MIN_WIDTH_PX, MAX_WIDTH_PX] = [0.6, 3.4];
/** Opacity of the weakest and of the strongest edges, and the share that is left of those that are not looked at. */
const [MIN_OPACITY, MAX_OPACITY, FAINT_SHARE] = [0.3, 0.9, 0.15];

const [RIM_PX, RIM_OPACITY] = [1.2, 0.55];

/** No edges. @type {Edges} */
export const NO_EDGES = { ends: new Uint32Array(0), looks: new Uint8Array(0), strengths: new Uint8Array(0) };

/**
 * Edges by look and width, the weakest first so that the strongest lie on top.
 *
 * @param {Edges} edges
 * @returns {{ look: number, width: number, members: number[] }[]}
 */
export function bucketsOf({ looks, strengths }) {
  /** @type {Map<number, { look: number, width: number, members: number[] }>} */
  const found = new Map();
  for (let i = 0; i < looks.length; i++) {
    const width = Math.min(N_WIDTHS - 1, Math.floor((strengths[i] / 256) * N_WIDTHS));
    const name = width * 256 + looks[i];
    const bucket = found.get(name) ?? { look: looks[i], width, members: [] };
    bucket.members.push(i);
    found.set(name, bucket);
  }
  return [...found.keys()].sort((a, b) => a - b).map(name => /** @type {any} */ (found.get(name)));
}

/**
 * Whether an edge belongs to what is looked at: the feature under the pointer, else the selected ones, else all.
 *
 * @param {Pick<State, 'hovered' | 'focused' | 'nSelected' | 'selection'>} state
 * @param {number} from
 * @param {number} to
 */
export function isLookedAt({ hovered, focused, nSelected, selection }, from, to) {
  const feature = hovered >= 0 ? hovered : focused;
  if (feature >= 0) {
    return from === feature || to === feature;
  }
  return nSelected === 0 || isSet(selection, from) + isSet(selection, to) > 0;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {FeatureMap} map
 */
export function drawEdges(pen, map) {
  const { model, state } = map;
  pen.setTransform(state.pixelRatio, 0, 0, state.pixelRatio, 0, 0);
  pen.clearRect(0, 0, state.size.width, state.size.height);
  const transform = currentTransform(state);
  const looks = model.get('edge_looks');
  for (const bucket of bucketsOf(state.edges)) {
    const share = bucket.width / (N_WIDTHS - 1);
    pen.lineWidth = MIN_WIDTH_PX + share * (MAX_WIDTH_PX - MIN_WIDTH_PX);
    const opacity = MIN_OPACITY + share * (MAX_OPACITY - MIN_OPACITY);
    setLook(pen, looks[bucket.look]);
    for (const faint of [true, false]) {
      pen.globalAlpha = faint ? opacity * FAINT_SHARE : opacity;
      stroke(pen, state, transform, bucket.members, !faint);
    }
  }
  pen.setLineDash([]);
  drawRims(pen, map, transform);
  pen.globalAlpha = 1;
}

/**
 * Discs that are a little larger than the features above them: a rim, so that no colour is lost on the page.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {FeatureMap} map
 * @param {Transform} transform
 */
function drawRims(pen, { el, model, state }, transform) {
  const given = model.get('radius');
  if (!given) {
    return;
  }
  const radius = radiusOf(countOf(state.points), state.viewport.zoom, given) + RIM_PX;
  pen.fillStyle = getComputedStyle(el).color;
  for (let i = 0; i < countOf(state.points); i++) {
    pen.globalAlpha = state.nSelected && !isSet(state.selection, i) ? RIM_OPACITY * FAINT_SHARE : RIM_OPACITY;
    const [x, y] = toPixel(transform, state.points[2 * i], state.points[2 * i + 1]);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {EdgeLook | undefined} look
 */
function setLook(pen, look) {
  pen.strokeStyle = look?.color ?? '#888';
  pen.setLineDash(look ? [...look.dash] : []);
}

/**
 * Draw those of some edges that are looked at, or those that are not, as one path.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {State} state
 * @param {Transform} transform
 * @param {readonly number[]} members
 * @param {boolean} lookedAt
 */
function stroke(pen, state, transform, members, lookedAt) {
  const { ends } = state.edges;
  pen.beginPath();
  for (const edge of members) {
    const [from, to] = [ends[2 * edge], ends[2 * edge + 1]];
    if (isLookedAt(state, from, to) === lookedAt) {
      pen.moveTo(...toPixel(transform, state.points[2 * from], state.points[2 * from + 1]));
      pen.lineTo(...toPixel(transform, state.points[2 * to], state.points[2 * to + 1]));
    }
  }
  pen.stroke();
}
