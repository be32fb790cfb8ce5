/** Texts in the language of JupyterLab. */

import { type ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';

/** The translations of this extension; without a translator every text stays English. */
export function loadTranslations(translator: ITranslator | null): TranslationBundle {
  return (translator ?? nullTranslator).load('diffnb');
}
