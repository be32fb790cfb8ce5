/** Text as Python string literals, and names as Python expressions. */

// control characters, separators and marks of writing direction are escaped, so that code does what it shows
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, '0')}` : `\\u${point.toString(16).padStart(4, '0')}`;
}

/** A double-quoted Python literal with the value `text`, whatever its characters. */
export function literal(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, escaped);
}

/** Code for a variable in the user's namespace; a name that is no identifier is looked up as a string. */
export function variable(name: string, identifier: boolean): string {
  return identifier ? name : `globals()[${literal(name)}]`;
}
