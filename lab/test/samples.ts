/** Names that look like markup, code or control characters. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  `it's "quoted"`,
  '"); import os; os.system("true") #',
  "'''",
  'back\\slash\\',
  'two\nlines\r\n',
  '{braces} %s $HOME `ticks`',
  '\u202eright to left\u2066',
  'line\u2028separator\u0000null\u007f',
  'σ-Gen 🧬',
  '\ud800 half'
];
