// @ts-check
/**
 * Correlations of all pairs of features, one square per condition side by side. The kernel sends a byte per pair, and
 * names and numbers on request.
 */
/** @import { Message, View } from '../types.js' */
/** @import { Cell, PairMap, PairTraits } from './types.js' */

import { append } from '../shared/dom.js';
import { listen } from '../shared/model.js';
import { onThemeChange } from '../shared/theme.js';
import { cellAt, cellBeside, NO_CELL, nameOf } from './cells.js';
import { buildMaps, markCell, paintMaps, squaresOf } from './drawing.js';

/** @param {View<PairTraits>} view */
function render({ model, el }) {
  el.classList.add('diffnb-pair-map');
  const maps = append(el, 'div', { class: 'diffnb-pair-row' });
  const legend = append(el, 'div', { class: 'diffnb-legend' });
  const announcer = append(el, 'div', { class: 'diffnb-announcer', role: 'status', 'aria-live': 'polite' });
  /** @type {PairMap} */
  const pairs = { model, el, maps, legend, announcer, cell: NO_CELL, texts: new Map() };
  const show = () => rebuild(pairs);
  const mark = () => showCell(pairs);
  show();
  const observer = new ResizeObserver(mark);
  observer.observe(maps);
  const events = {
    'change:codes': show,
    'change:titles': show,
    'change:colors': show,
    'change:empty': show,
    'change:selection': mark,
    'msg:custom': (/** @type {Message} */ message) => receive(pairs, message)
  };
  const cleanups = [listen(model, events), onThemeChange(mark), () => observer.disconnect()];
  return () => {
    for (const cleanup of cleanups) {
      cleanup();
    }
  };
}

/** @param {PairMap} pairs */
function rebuild(pairs) {
  pairs.cell = NO_CELL;
  pairs.texts.clear();
  buildMaps(pairs);
  paintMaps(pairs);
  for (const [map, square] of squaresOf(pairs.maps).entries()) {
    listenTo(pairs, map, square);
  }
  showCell(pairs);
}

/**
 * @param {PairMap} pairs
 * @param {number} map
 * @param {HTMLElement} square
 */
function listenTo(pairs, map, square) {
  const size = pairs.model.get('size');
  const at = (/** @type {MouseEvent} */ event) => cellAt(map, size, square.clientWidth, event.offsetX, event.offsetY);
  const top = /** @type {HTMLElement} */ (square.querySelector('.diffnb-overlay'));
  top.addEventListener('pointermove', event => moveTo(pairs, at(event)));
  top.addEventListener('pointerleave', () => moveTo(pairs, NO_CELL));
  top.addEventListener('blur', () => moveTo(pairs, NO_CELL));
  top.addEventListener('click', event => select(pairs, at(event)));
  top.addEventListener('keydown', event => {
    const next = cellBeside(pairs.cell, map, size, event.key);
    if (next) {
      moveTo(pairs, next);
    } else if (event.key === 'Enter' || event.key === ' ') {
      select(pairs, pairs.cell);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // the notebook binds these keys, too
  });
}

/**
 * @param {PairMap} pairs
 * @param {Cell} cell
 */
function moveTo(pairs, cell) {
  const name = nameOf(cell);
  if (name === nameOf(pairs.cell)) {
    return;
  }
  pairs.cell = cell;
  if (cell.map >= 0 && !pairs.texts.has(name)) {
    pairs.texts.set(name, '');
    pairs.model.send({ ask: 'pair', map: cell.map, row: cell.row, column: cell.column });
  }
  showCell(pairs);
}

/**
 * @param {PairMap} pairs
 * @param {Cell} cell
 */
function select({ model }, cell) {
  if (cell.map >= 0) {
    model.send({ ask: 'select', row: cell.row, column: cell.column });
  }
}

/**
 * @param {PairMap} pairs
 * @param {Message} message
 */
function receive(pairs, message) {
  if (message.answer === 'pair') {
    pairs.texts.set(nameOf(message), message.text);
    showCell(pairs);
  }
}

/** @param {PairMap} pairs */
function showCell(pairs) {
  const text = pairs.texts.get(nameOf(pairs.cell)) ?? '';
  pairs.announcer.textContent = text;
  markCell(pairs, text);
}

export default { render };
