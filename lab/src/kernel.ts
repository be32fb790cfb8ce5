/** The kernel of a notebook, as the watcher sees it. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { EXPRESSION, type Listing, parseReply, type Reply } from './listing.js';
import type { WatchedKernel, Watcher } from './watcher.js';

const KEY = 'diffnb';

/** List the AnnData objects of a kernel, silently and without an entry in its history. */
export async function list(kernel: Kernel.IKernelConnection, trans: TranslationBundle): Promise<Listing> {
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
  const reply = content.status === 'ok' ? content.user_expressions[KEY] : undefined;
  return parseReply(reply as unknown as Reply | undefined, trans);
}

function watched(kernel: Kernel.IKernelConnection, trans: TranslationBundle): WatchedKernel {
  return {
    get status() {
      return kernel.status;
    },
    language: async () => (await kernel.info).language_info.name,
    list: () => list(kernel, trans)
  };
}

/** Let a watcher follow the kernel of a notebook until the result is called. */
export function follow(watcher: Watcher, panel: NotebookPanel | null, trans: TranslationBundle): () => void {
  if (!panel) {
    watcher.attach(false, null);
    return () => {};
  }
  const { sessionContext } = panel;
  const attach = () => {
    const kernel = sessionContext.session?.kernel;
    watcher.attach(true, kernel ? watched(kernel, trans) : null);
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
