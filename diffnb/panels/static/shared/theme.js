// @ts-check
/** @import { Cleanup } from '../types.js' */

/** JupyterLab names its theme on the body before the new style sheet is loaded: colours are read after this delay. */
const STYLE_SHEET_DELAY_MS = 350;

const THEME_ATTRIBUTES = ['class', 'data-jp-theme-name', 'data-jp-theme-light', 'style'];

/**
 * Call back after every change of the page's theme until the result is called.
 *
 * @param {() => void} callback
 * @returns {Cleanup}
 */
export function onThemeChange(callback) {
  const observer = new MutationObserver(() => setTimeout(callback, STYLE_SHEET_DELAY_MS));
  for (const node of [document.body, document.documentElement]) {
    observer.observe(node, { attributes: true, attributeFilter: THEME_ATTRIBUTES });
  }
  return () => observer.disconnect();
}

/**
 * Luminance, from 0 (black) to 1 (white), of the background behind an element.
 *
 * @param {Element} element
 */
export function backgroundLuminance(element) {
  // the first ancestor that paints a background decides
  for (let node = /** @type {Element | null} */ (element); node; node = node.parentElement) {
    const luminance = luminanceOf(getComputedStyle(node).backgroundColor);
    if (luminance !== null) {
      return luminance;
    }
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  return dark && getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 0 : 1;
}

/**
 * Luminance of a computed colour such as `rgb(17, 17, 17)`; null where it is mostly transparent.
 *
 * @param {string} color
 */
export function luminanceOf(color) {
  const [red, green, blue, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  if (red === undefined || green === undefined || blue === undefined || alpha <= 0.5) {
    return null;
  }
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}
