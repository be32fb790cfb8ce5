/** Elements of the views. Names in the data are inserted as text, never as markup. */

type Child = Node | string;

export interface Attributes {
  readonly [name: string]: string;
}

/** An element with attributes and children; strings become text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

let count = 0;

/** A control with its label beside it. */
export function labelled(label: string, control: HTMLElement): HTMLElement {
  control.id = `diffnb-control-${count++}`;
  return element('div', { class: 'diffnb-Row' }, element('label', { for: control.id }, label), control);
}

/** A button with its action. */
export function button(label: string, attributes: Attributes, action: () => void): HTMLButtonElement {
  const node = element('button', { type: 'button', ...attributes }, label);
  node.addEventListener('click', action);
  return node;
}
