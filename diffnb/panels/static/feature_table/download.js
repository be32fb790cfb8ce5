// @ts-check
/** The table as a CSV file. It is sent in pieces, so that other messages are not delayed. */
/** @import { Message } from '../types.js' */
/** @import { FeatureTable } from './types.js' */

/** Time for the browser to start saving a file. */
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
    // a hidden view did not start the download: another view of the same table did
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
