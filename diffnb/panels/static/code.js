// @ts-check
/** The lines that reproduce what is on screen, and a button that copies them. */
/** @import { CodeTraits, View } from './types.js' */

import { append, appendButton } from './shared/dom.js';
import { listen } from './shared/model.js';

const MESSAGE_MS = 3000;

/**
 * Copy a text; false where only its source on the page could be selected.
 *
 * @param {string} text
 * @param {HTMLElement} source
 */
async function copy(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // pages without a secure origin have no clipboard: select the text and ask the browser
    getSelection()?.selectAllChildren(source);
    return document.execCommand('copy');
  }
}

/** @param {View<CodeTraits>} view */
function render({ model, el }) {
  el.classList.add('diffnb-code');
  appendButton(el, 'Copy code', async () => {
    const copied = await copy(model.get('code'), lines);
    message.textContent = copied ? 'Copied.' : 'Selected: press Ctrl+C.';
    setTimeout(() => message.replaceChildren(), MESSAGE_MS);
  });
  const message = append(el, 'span', { role: 'status', class: 'diffnb-hint' });
  const note = append(el, 'p', { class: 'diffnb-hint' });
  const lines = append(el, 'pre', { tabindex: '0', 'aria-label': 'Python code' });

  function update() {
    lines.textContent = model.get('code');
    note.textContent = model.get('note');
    note.hidden = !model.get('note');
  }

  update();
  return listen(model, { 'change:code': update, 'change:note': update });
}

export default { render };
