/** Texts in the language of JupyterLab. */

import { type ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';

/** The translations of this extension; the texts are English where there is no translator. */
export function loadTranslations(translator: ITranslator | null): TranslationBundle {
  return (translator ?? nullTranslator).load('diffnb');
}
