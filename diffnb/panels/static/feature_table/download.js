// @ts-check
/** The table as a CSV file. It comes in pieces, so that no message holds up the others. */
/** @import { Message } from '../types.js' */
/** @import { FeatureTable } from './types.js' */

/** A browser has begun to save a file after this time. */
const SAVING_MS = 10_000;

/**
 * A download to start, and what receives its pieces.
 *
 * @param {FeatureTable} table
 */
export function createDownload({ model, el }) {
  /** @type {string[]} */
  let pieces = [];

  function start() {
    pieces = [];
    model.send({ ask: 'csv', from: 0 });
  }

  /** @param {Message} message */
  function receive(message) {
    // a view that is not shown has not asked, but another one of the same table
    if (message.answer !== 'csv' || !el.offsetParent) {
      return;
    }
    pieces.push(message.text);
    if (message.next) {
      model.send({ ask: 'csv', from: message.next });
    } else {
      saveFile(message.name, pieces);
    }
  }

  return { start, receive };
}

/**
 * @param {string} name
 * @param {string[]} pieces
 */
function saveFile(name, pieces) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(pieces, { type: 'text/csv' }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVING_MS);
}
