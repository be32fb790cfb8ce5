/** Text as a Python string literal, and names as Python expressions: data on its way into visible code. */

// control characters, separators and marks of writing direction are written out, so that a line of code is what it shows
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, '0')}` : `\\u${point.toString(16).padStart(4, '0')}`;
}

/** A double-quoted Python literal whose value is `text`, whatever is in it. */
export function literal(text: string): string {
  return JSON.stringify(text).replace(UNSEEN, escaped);
}

/** How to say a name of the user's namespace in code; one that is no identifier is looked up as a string. */
export function variable(name: string, identifier: boolean): string {
  return identifier ? name : `globals()[${literal(name)}]`;
}
