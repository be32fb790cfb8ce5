// @ts-check
/** Elements of a view. Names of features are set as text, never as markup. */

/**
 * Append an element with attributes and text to a parent.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {HTMLElement} parent
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function append(parent, tag, attributes = {}, text = '') {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.textContent = text;
  parent.append(node);
  return node;
}

/**
 * Append a button; one that shows a symbol only is named by its title.
 *
 * @param {HTMLElement} parent
 * @param {string} text
 * @param {() => void} onClick
 * @param {string} [title]
 */
export function appendButton(parent, text, onClick, title = '') {
  const node = append(parent, 'button', { type: 'button', class: 'diffnb-button' }, text);
  if (title) {
    node.title = title;
  }
  if (text.length === 1) {
    node.setAttribute('aria-label', title);
  }
  node.addEventListener('click', onClick);
  return node;
}

/**
 * Append an input with its label.
 *
 * @param {HTMLElement} parent
 * @param {string} label
 * @param {Readonly<Record<string, string>>} attributes
 */
export function appendInput(parent, label, attributes) {
  const field = append(parent, 'label', { class: 'diffnb-field' });
  append(field, 'span', {}, label);
  return append(field, 'input', attributes);
}
