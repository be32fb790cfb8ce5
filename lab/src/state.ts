/** What the sidebar shows, as a function of what is known of the notebook in front and its kernel. */

import type { Listing } from './listing.js';

export interface Situation {
  readonly notebook: boolean;
  /** status of the kernel as Jupyter calls it; null without one */
  readonly status: string | null;
  readonly language: string | null;
  readonly listing: Listing | null;
  readonly failure: string | null;
  /** whether the kernel has been at work for longer than a blink */
  readonly slow: boolean;
}

export type Kind =
  | 'no-notebook'
  | 'no-kernel'
  | 'starting'
  | 'dead'
  | 'language'
  | 'busy'
  | 'failed'
  | 'empty'
  | 'list';

export interface View {
  readonly kind: Kind;
  readonly message: string;
  /** the objects to show: those of before while the kernel is at work */
  readonly listing: Listing | null;
}

export const NOTHING: Situation = {
  notebook: false,
  status: null,
  language: null,
  listing: null,
  failure: null,
  slow: false
};

const GONE = new Set(['dead', 'terminating', 'disconnected']);
const COMING = new Set(['starting', 'restarting', 'autorestarting', 'connecting', 'unknown']);

function counted(listing: Listing): string {
  const n = listing.objects.length + listing.more;
  const found = n === 1 ? 'One AnnData object in this kernel.' : `${n} AnnData objects in this kernel.`;
  const more = listing.more > 0 ? ` The first ${listing.objects.length} are shown.` : '';
  const missing = listing.installed ? '' : ' Its Python has no diffnb: run %pip install diffnb in the notebook first.';
  return found + more + missing;
}

/** Say what is shown in a situation. */
export function view(now: Situation): View {
  const say = (kind: Kind, message: string, listing: Listing | null = null): View => ({ kind, message, listing });
  if (!now.notebook) {
    return say('no-notebook', 'Open a notebook to see its AnnData objects here.');
  }
  if (now.status === null) {
    return say('no-kernel', 'This notebook has no kernel. Choose one to see its AnnData objects.');
  }
  if (GONE.has(now.status)) {
    return say('dead', 'The kernel is not running. Restart it to see its AnnData objects.');
  }
  if (now.language !== null && now.language.toLowerCase() !== 'python') {
    return say('language', `This kernel speaks ${now.language}. diffnb looks into Python kernels.`);
  }
  if (COMING.has(now.status)) {
    return say('starting', 'The kernel is starting …');
  }
  if (now.slow) {
    const stale = now.listing?.objects.length ? ' What you see is from before.' : '';
    return say('busy', `The kernel is busy; the list follows when it is done.${stale}`, now.listing);
  }
  if (now.failure !== null) {
    return say('failed', now.failure);
  }
  if (now.listing === null) {
    return say('starting', 'Looking …');
  }
  if (now.listing.objects.length === 0) {
    const hint = 'Load one, for example: adata = anndata.read_h5ad("cells.h5ad")';
    return say('empty', `No AnnData object in this kernel yet. ${hint}`, now.listing);
  }
  return say('list', counted(now.listing), now.listing);
}
