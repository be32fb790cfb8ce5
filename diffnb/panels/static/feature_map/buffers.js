// @ts-check
/** Binary traits as typed arrays. */

/**
 * @param {DataView<ArrayBuffer>} view
 */
export function asBytes(view) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * @param {DataView<ArrayBuffer>} view
 */
export function asFloats(view) {
  // a copy: within a message a buffer need not begin at a multiple of four bytes
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

/**
 * @param {DataView<ArrayBuffer>} view
 */
export function asIntegers(view) {
  return new Uint32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}
