/** The kernel of a notebook, seen as the watcher sees it. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { EXPRESSION, type Listing, parseReply, type Reply } from './listing.js';
import type { WatchedKernel, Watcher } from './watcher.js';

const KEY = 'diffnb';

/** Ask a kernel for its AnnData objects: silent, and nothing goes into its history. */
export async function list(kernel: Kernel.IKernelConnection): Promise<Listing> {
  const future = kernel.requestExecute(
    {
      code: '',
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false,
      user_expressions: { [KEY]: EXPRESSION }
    },
    true
  );
  const { content } = await future.done;
  if (content.status !== 'ok') {
    throw new Error('The kernel did not answer.');
  }
  return parseReply(content.user_expressions[KEY] as unknown as Reply | undefined);
}

function watched(kernel: Kernel.IKernelConnection): WatchedKernel {
  return {
    get status() {
      return kernel.status;
    },
    language: async () => (await kernel.info).language_info.name,
    list: () => list(kernel)
  };
}

/** Lets a watcher follow one notebook; call the answer to let go. */
export function follow(watcher: Watcher, panel: NotebookPanel | null): () => void {
  if (!panel) {
    watcher.attach(false, null);
    return () => {};
  }
  const { sessionContext } = panel;
  const attach = () => {
    const kernel = sessionContext.session?.kernel;
    watcher.attach(true, kernel ? watched(kernel) : null);
  };
  const onStatus = (_: unknown, status: Kernel.Status) => watcher.statusChanged(status);
  sessionContext.kernelChanged.connect(attach);
  sessionContext.statusChanged.connect(onStatus);
  attach();
  return () => {
    sessionContext.kernelChanged.disconnect(attach);
    sessionContext.statusChanged.disconnect(onStatus);
  };
}
