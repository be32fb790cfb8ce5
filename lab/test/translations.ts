/** Translations for tests: none, and one that marks every text that went through it. */

import type { TranslationBundle } from '@jupyterlab/translation';

/** Placeholders as JupyterLab fills them: %1 is the first value. */
function filled(text: string, values: readonly unknown[]): string {
  return text.replace(/%(\d+)/g, (_, place: string) => String(values[Number(place) - 1]));
}

/** A bundle that applies a function to every text before its placeholders are filled. */
function bundleOf(translate: (text: string) => string): TranslationBundle {
  const one = (text: string, ...values: unknown[]) => filled(translate(text), values);
  const many = (singular: string, plural: string, n: number, ...values: unknown[]) =>
    filled(translate(n === 1 ? singular : plural), [n, ...values]);
  return {
    __: one,
    gettext: one,
    _n: many,
    ngettext: many,
    _p: (_context, ...rest) => one(...rest),
    pgettext: (_context, ...rest) => one(...rest),
    _np: (_context, ...rest) => many(...rest),
    npgettext: (_context, ...rest) => many(...rest),
    dcnpgettext: (_domain, _context, ...rest) => many(...rest)
  };
}

export const ENGLISH = bundleOf(text => text);

/** Puts every translated text into these brackets. */
export const MARKED = bundleOf(text => `⟦${text}⟧`);

/** What is left of a text without its translated parts. */
export function untranslated(text: string): string {
  return text.replace(/⟦[^⟦⟧]*⟧/g, '');
}
