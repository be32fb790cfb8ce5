/** A document for tests that make elements; to be imported before anything that needs one. */

import { Window } from 'happy-dom';

const window = new Window();
const { document, DragEvent, Element, HTMLElement, Node } = window;
Object.assign(globalThis, { window, document, DragEvent, Element, HTMLElement, Node });
