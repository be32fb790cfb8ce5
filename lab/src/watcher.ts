/** Keeps the listing of the active notebook's kernel up to date, with as few requests as possible. */

import type { Listing } from './listing.js';
import { NO_NOTEBOOK, type Situation } from './state.js';

/** The part of a kernel that the watcher uses. */
export interface WatchedKernel {
  readonly status: string;
  language(): Promise<string>;
  list(): Promise<Listing>;
}

export interface Delays {
  /** how long to wait for further events before a request */
  readonly debounceMs: number;
  /** how long a kernel is busy before it is shown as busy */
  readonly busyMs: number;
}

type Timer = ReturnType<typeof setTimeout> | undefined;

export class Watcher {
  constructor(
    private readonly report: (situation: Situation) => void,
    private readonly delays: Delays = { debounceMs: 80, busyMs: 600 }
  ) {}

  /** Another notebook has become active, or its kernel was changed. */
  attach(notebook: boolean, kernel: WatchedKernel | null): void {
    this.stopTimers();
    this.generation++;
    this.kernel = kernel;
    this.requesting = false;
    this.change({ ...NO_NOTEBOOK, notebook, status: kernel?.status ?? null });
    if (kernel) {
      this.stale = true;
      this.requestLanguage(kernel);
      this.statusChanged(kernel.status);
    }
  }

  /** The objects may have changed, since a cell has run. */
  invalidate(): void {
    this.stale = true;
    this.schedule();
  }

  /** The kernel has reported its status. */
  statusChanged(status: string): void {
    if (!this.kernel) {
      return;
    }
    if (status === 'restarting' || status === 'autorestarting') {
      // the objects are gone, and a reply that is still pending describes the previous kernel
      this.generation++;
      this.requesting = false;
      this.stale = true;
      this.change({ listing: null, failure: null });
    }
    const busy = status === 'busy';
    if (!busy) {
      clearTimeout(this.busyTimer);
      this.busyTimer = undefined;
    } else if (this.busyTimer === undefined) {
      this.busyTimer = setTimeout(() => this.change({ slow: true }), this.delays.busyMs);
    }
    this.change(busy ? { status } : { status, slow: false });
    if (status === 'idle' && this.stale) {
      this.schedule();
    }
  }

  dispose(): void {
    this.stopTimers();
    this.generation++;
    this.kernel = null;
  }

  private requestLanguage(kernel: WatchedKernel): void {
    kernel.language().then(
      language => {
        // a restart in the meantime does not change the language
        if (kernel === this.kernel) {
          this.change({ language });
          this.schedule();
        }
      },
      () => {} // the status of a kernel that dies before it replies is dead
    );
  }

  private schedule(): void {
    clearTimeout(this.requestTimer);
    this.requestTimer = setTimeout(() => void this.request(), this.delays.debounceMs);
  }

  private async request(): Promise<void> {
    const kernel = this.kernel;
    const python = this.now.language?.toLowerCase() === 'python';
    // a busy kernel would reply when it is idle again: that status starts the request then
    if (!kernel || !python || !this.stale || this.requesting || kernel.status !== 'idle') {
      return;
    }
    const generation = this.generation;
    this.stale = false;
    this.requesting = true;
    const reply = await this.listed(kernel);
    if (generation !== this.generation) {
      return;
    }
    this.requesting = false;
    this.change(reply);
    if (this.stale) {
      this.schedule();
    }
  }

  private async listed(kernel: WatchedKernel): Promise<Partial<Situation>> {
    try {
      return { listing: await kernel.list(), failure: null };
    } catch (error) {
      return { listing: null, failure: error instanceof Error ? error.message : String(error) };
    }
  }

  private change(news: Partial<Situation>): void {
    this.now = { ...this.now, ...news };
    this.report(this.now);
  }

  private stopTimers(): void {
    clearTimeout(this.requestTimer);
    clearTimeout(this.busyTimer);
    this.busyTimer = undefined;
  }

  private now: Situation = NO_NOTEBOOK;
  private kernel: WatchedKernel | null = null;
  /** counts kernels and their restarts */
  private generation = 0;
  /** whether the listing may be out of date */
  private stale = false;
  private requesting = false;
  private requestTimer: Timer;
  private busyTimer: Timer;
}
