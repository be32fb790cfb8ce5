// @ts-check
/** Tooltips of controls. ipywidgets shows those of some widgets only; here every control of a panel has its own. */
/** @import { Cleanup } from './types.js' */

const CONTROLS = '.diffnb-control';
const FIELDS = 'input, select, textarea';

/**
 * The description of a control, by the text of its label.
 *
 * @param {Element} control
 * @param {Readonly<Record<string, string>>} tooltips
 */
export function tooltipOf(control, tooltips) {
  const label = control.querySelector('.widget-label, label, span')?.textContent?.trim() ?? '';
  return Object.hasOwn(tooltips, label) ? tooltips[label] : '';
}

/**
 * Describe every control of a panel to the mouse and to screen readers.
 *
 * @param {Element} panel
 * @param {Readonly<Record<string, string>>} tooltips
 */
export function describeControls(panel, tooltips) {
  for (const control of panel.querySelectorAll(CONTROLS)) {
    const text = tooltipOf(control, tooltips);
    if (text && control.getAttribute('title') !== text) {
      control.setAttribute('title', text);
      control.querySelector(FIELDS)?.setAttribute('aria-description', text);
    }
  }
}

/**
 * Keep the controls of a panel described, those that are added later, too, until the result is called.
 *
 * @param {Element} panel
 * @param {() => Readonly<Record<string, string>>} tooltips
 * @returns {Cleanup}
 */
export function keepDescribed(panel, tooltips) {
  let waiting = false;
  const describe = () => {
    waiting = false;
    describeControls(panel, tooltips());
  };
  const observer = new MutationObserver(() => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(describe);
    }
  });
  observer.observe(panel, { childList: true, subtree: true });
  describe();
  return () => observer.disconnect();
}
