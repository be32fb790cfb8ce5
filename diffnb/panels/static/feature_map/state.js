// @ts-check
/** @import { State } from './types.js' */

import { NO_EDGES } from './edges.js';
import { ALL_IN_VIEW } from './geometry.js';

/**
 * The state of a map without features.
 *
 * @returns {State}
 */
export function createState() {
  return {
    points: new Float32Array(0),
    codes: new Uint8Array(0),
    colors: new Uint8Array(0),
    shapes: new Uint8Array(0),
    selection: new Uint8Array(0),
    nSelected: 0,
    drawingOrder: new Uint32Array(0),
    steppingOrder: new Uint32Array(0),
    edges: NO_EDGES,
    bounds: [-1, 1, -1, 1],
    equal: false,
    viewport: ALL_IN_VIEW,
    size: { width: 0, height: 0 },
    pixelRatio: 1,
    image: null,
    frame: 0,
    mode: 'pan',
    drag: null,
    hovered: -1,
    focused: -1,
    names: new Map()
  };
}
