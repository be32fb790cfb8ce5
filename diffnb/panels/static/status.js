// @ts-check
/** State of a panel: progress, a message, notes, a folded traceback. */
/** @import { Cleanup, StatusTraits, View } from './types.js' */

import { append } from './shared/dom.js';
import { listen, save } from './shared/model.js';
import { backgroundLuminance, onThemeChange } from './shared/theme.js';
import { keepDescribed } from './tooltips.js';

/** The frame is in the page, and styled, this long after the view is made. */
const FIRST_THEME_CHECK_MS = 50;

/**
 * Hide the static picture of a panel while the panel is live. The picture is recognised by a mark within its bytes.
 *
 * @param {string} mark
 * @returns {Cleanup}
 */
function hideStaticPicture(mark) {
  if (!mark) {
    return () => {};
  }
  const picture = `img[src*="${mark}"], img[alt="diffnb ${mark}"]`;
  const style = append(document.head, 'style');
  style.textContent =
    `:is(${picture}) { display: none !important; }\n` +
    `.jp-OutputArea-child:has(:is(${picture})) { display: none !important; }`;
  return () => style.remove();
}

/**
 * Append the elements of the view.
 *
 * @param {HTMLElement} el
 */
function build(el) {
  el.classList.add('diffnb-status');
  const row = append(el, 'div', { class: 'diffnb-status-row' });
  const bar = append(row, 'progress', { class: 'diffnb-progress', 'aria-label': 'progress' });
  const message = append(row, 'span', { class: 'diffnb-message', role: 'status', 'aria-live': 'polite' });
  const notes = append(el, 'ul', { class: 'diffnb-notes' });
  const details = append(el, 'details', { class: 'diffnb-details' });
  append(details, 'summary', {}, 'Traceback');
  const traceback = append(details, 'pre', { class: 'diffnb-trace', tabindex: '0' });
  return { bar, message, notes, details, traceback, pace: { step: '', done: 0, began: performance.now() } };
}

/**
 * What a running panel is doing, such as ` · permutations 3 of 99`.
 *
 * @param {string} step
 * @param {number} done
 * @param {number} total
 */
export function describeProgress(step, done, total) {
  if (!step) {
    return '';
  }
  return total > 0 ? ` · ${step} ${done} of ${total}` : ` · ${step}`;
}

/** Time left is shown once a step has taken this long. */
const MIN_SECONDS_TO_PREDICT = 3;

/**
 * What is left of a step by its pace so far, such as ` · about 2 min left`; empty where it cannot be told yet.
 *
 * @param {number} seconds since the step began
 * @param {number} done
 * @param {number} total
 */
export function describeTimeLeft(seconds, done, total) {
  if (total <= 0 || done <= 0 || done >= total || seconds < MIN_SECONDS_TO_PREDICT) {
    return '';
  }
  const left = (seconds * (total - done)) / done;
  if (left < 60) {
    return ` · about ${Math.max(1, Math.round(left))} s left`;
  }
  return left < 3600 ? ` · about ${Math.round(left / 60)} min left` : ` · about ${(left / 3600).toFixed(1)} h left`;
}

/**
 * Show the traits of the model.
 *
 * @param {View<StatusTraits>} view
 * @param {ReturnType<typeof build>} parts
 */
function update({ model, el }, { bar, message, notes, details, traceback, pace }) {
  const [state, step, done, total] = [model.get('state'), model.get('step'), model.get('done'), model.get('total')];
  if (step !== pace.step || done < pace.done) {
    Object.assign(pace, { step, began: performance.now() });
  }
  pace.done = done;
  const running = state === 'running' || state === 'stopping';
  el.dataset.state = state;
  bar.hidden = !running;
  if (total > 0) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute('value');
  }
  const left = describeTimeLeft((performance.now() - pace.began) / 1000, done, total);
  const found = model.get('so_far') && ` · ${model.get('so_far')}`;
  message.textContent = model.get('message') + (running ? describeProgress(step, done, total) + found + left : '');
  notes.replaceChildren();
  for (const note of model.get('notes')) {
    append(notes, 'li', {}, note);
  }
  notes.hidden = model.get('notes').length === 0;
  details.hidden = !model.get('details');
  traceback.textContent = model.get('details');
}

/**
 * Report to the panel and to the kernel whether the page is dark.
 *
 * @param {View<StatusTraits>} view
 */
function reportTheme({ model, el }) {
  if (!el.isConnected) {
    return;
  }
  const dark = backgroundLuminance(el) < 0.5;
  for (const panel of document.querySelectorAll('.diffnb-panel')) {
    if (panel instanceof HTMLElement && panel.contains(el)) {
      panel.dataset.dark = String(dark);
    }
  }
  if (dark !== model.get('dark')) {
    save(model, 'dark', dark);
  }
}

/** @param {View<StatusTraits>} view */
function render(view) {
  const { model, el } = view;
  const parts = build(el);
  const show = () => update(view, parts);
  const report = () => reportTheme(view);
  show();
  let stopDescribing = () => {};
  const firstCheck = setTimeout(() => {
    report();
    const panel = el.closest('.diffnb-panel');
    stopDescribing = panel ? keepDescribed(panel, () => model.get('tooltips')) : stopDescribing;
  }, FIRST_THEME_CHECK_MS);
  const traits = ['state', 'message', 'notes', 'details', 'step', 'done', 'total', 'so_far'];
  const cleanups = [
    () => clearTimeout(firstCheck),
    () => stopDescribing(),
    onThemeChange(report),
    hideStaticPicture(model.get('mark')),
    listen(model, Object.fromEntries(traits.map(trait => [`change:${trait}`, show])))
  ];
  return () => {
    for (const cleanup of cleanups) {
      cleanup();
    }
  };
}

export default { render };
