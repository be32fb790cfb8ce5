/** What the sidebar shows, as a function of what is known about the active notebook and its kernel. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Listing } from './listing.js';

export interface Situation {
  readonly notebook: boolean;
  /** status of the kernel as Jupyter calls it; null without one */
  readonly status: string | null;
  readonly language: string | null;
  readonly listing: Listing | null;
  readonly failure: string | null;
  /** whether the kernel has been busy for some time */
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
  /** the objects to show: the last known ones while the kernel is busy */
  readonly listing: Listing | null;
}

export const NO_NOTEBOOK: Situation = {
  notebook: false,
  status: null,
  language: null,
  listing: null,
  failure: null,
  slow: false
};

const STOPPED = new Set(['dead', 'terminating', 'disconnected']);
const STARTING = new Set(['starting', 'restarting', 'autorestarting', 'connecting', 'unknown']);

/** What the sidebar shows in a situation. */
export function view(now: Situation, trans: TranslationBundle): View {
  return kernelView(now, trans) ?? listingView(now, trans);
}

/** The view where there is no Python kernel to ask; null where there is one. */
function kernelView(now: Situation, trans: TranslationBundle): View | null {
  const show = (kind: Kind, message: string): View => ({ kind, message, listing: null });
  if (!now.notebook) {
    return show('no-notebook', trans.__('Open a notebook to see its AnnData objects here.'));
  }
  if (now.status === null) {
    return show('no-kernel', trans.__('This notebook has no kernel. Choose one to see its AnnData objects.'));
  }
  if (STOPPED.has(now.status)) {
    return show('dead', trans.__('The kernel is not running. Restart it to see its AnnData objects.'));
  }
  if (now.language !== null && now.language.toLowerCase() !== 'python') {
    return show('language', trans.__('The language of this kernel is %1. diffnb works in Python.', now.language));
  }
  if (STARTING.has(now.status)) {
    return show('starting', trans.__('The kernel is starting …'));
  }
  return null;
}

function listingView(now: Situation, trans: TranslationBundle): View {
  const { listing } = now;
  if (now.slow) {
    return { kind: 'busy', message: describeBusy(listing, trans), listing };
  }
  if (now.failure !== null) {
    return { kind: 'failed', message: now.failure, listing: null };
  }
  if (listing === null) {
    return { kind: 'starting', message: trans.__('Listing AnnData objects …'), listing };
  }
  if (listing.objects.length === 0) {
    const example = 'adata = anndata.read_h5ad("cells.h5ad")';
    const message = trans.__('No AnnData object in this kernel yet. Load one, for example: %1', example);
    return { kind: 'empty', message, listing };
  }
  return { kind: 'list', message: describeListing(listing, trans), listing };
}

function describeBusy(listing: Listing | null, trans: TranslationBundle): string {
  const busy = trans.__('The kernel is busy. The list is updated when it is idle.');
  return listing?.objects.length ? `${busy} ${trans.__('The objects shown may be out of date.')}` : busy;
}

function describeListing(listing: Listing, trans: TranslationBundle): string {
  const n = listing.objects.length + listing.more;
  const sentences = [trans._n('%1 AnnData object in this kernel.', '%1 AnnData objects in this kernel.', n)];
  if (listing.more > 0) {
    sentences.push(trans.__('The first %1 are shown.', listing.objects.length));
  }
  if (!listing.installed) {
    sentences.push(
      trans.__('diffnb is not installed in this kernel: run %1 in the notebook first.', '%pip install diffnb')
    );
  }
  return sentences.join(' ');
}
