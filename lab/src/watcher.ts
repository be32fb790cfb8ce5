/** Keeps a listing of the kernel in front up to date, and asks no more often than it must. */

import type { Listing } from './listing.js';
import { NOTHING, type Situation, type View, view } from './state.js';

/** The little that the watcher needs of a kernel. */
export interface WatchedKernel {
  readonly status: string;
  language(): Promise<string>;
  list(): Promise<Listing>;
}

export interface Delays {
  /** how long to gather events before asking, in ms */
  readonly gather: number;
  /** how long a kernel may work before it is called busy, in ms */
  readonly patience: number;
}

type Timer = ReturnType<typeof setTimeout> | undefined;

export class Watcher {
  constructor(
    private readonly report: (view: View) => void,
    private readonly delays: Delays = { gather: 80, patience: 600 }
  ) {}

  /** Another notebook came in front, or its kernel was changed. */
  attach(notebook: boolean, kernel: WatchedKernel | null): void {
    this.stopTimers();
    this.generation++;
    this.kernel = kernel;
    this.asking = false;
    this.change({ ...NOTHING, notebook, status: kernel?.status ?? null });
    if (kernel) {
      this.dirty = true;
      this.learnLanguage(kernel);
      this.statusChanged(kernel.status);
    }
  }

  /** A cell has run: the objects may have changed. */
  touch(): void {
    this.dirty = true;
    this.schedule();
  }

  /** The kernel said what it is doing. */
  statusChanged(status: string): void {
    if (!this.kernel) {
      return;
    }
    if (status === 'restarting' || status === 'autorestarting') {
      // what was there is gone; an answer still on its way speaks of the old kernel
      this.generation++;
      this.asking = false;
      this.dirty = true;
      this.change({ listing: null, failure: null });
    }
    const working = status === 'busy';
    if (!working) {
      clearTimeout(this.busyTimer);
      this.busyTimer = undefined;
    } else if (this.busyTimer === undefined) {
      this.busyTimer = setTimeout(() => this.change({ slow: true }), this.delays.patience);
    }
    this.change(working ? { status } : { status, slow: false });
    if (status === 'idle' && this.dirty) {
      this.schedule();
    }
  }

  dispose(): void {
    this.stopTimers();
    this.generation++;
    this.kernel = null;
  }

  private learnLanguage(kernel: WatchedKernel): void {
    kernel.language().then(
      language => {
        // a restart on the way changes nothing: the kernel speaks as before
        if (kernel === this.kernel) {
          this.change({ language });
          this.schedule();
        }
      },
      () => {} // a kernel that dies before it says its language shows as dead by its status
    );
  }

  private schedule(): void {
    clearTimeout(this.gatherTimer);
    this.gatherTimer = setTimeout(() => void this.ask(), this.delays.gather);
  }

  private async ask(): Promise<void> {
    const kernel = this.kernel;
    const python = this.now.language?.toLowerCase() === 'python';
    // a busy kernel would answer when it is done: its next 'idle' asks again
    if (!kernel || !python || !this.dirty || this.asking || kernel.status !== 'idle') {
      return;
    }
    const generation = this.generation;
    this.dirty = false;
    this.asking = true;
    let answer: Partial<Situation>;
    try {
      answer = { listing: await kernel.list(), failure: null };
    } catch (error) {
      answer = { listing: null, failure: error instanceof Error ? error.message : String(error) };
    }
    if (generation !== this.generation) {
      return;
    }
    this.asking = false;
    this.change(answer);
    if (this.dirty) {
      this.schedule();
    }
  }

  private change(news: Partial<Situation>): void {
    this.now = { ...this.now, ...news };
    this.report(view(this.now));
  }

  private stopTimers(): void {
    clearTimeout(this.gatherTimer);
    clearTimeout(this.busyTimer);
    this.busyTimer = undefined;
  }

  private now: Situation = NOTHING;
  private kernel: WatchedKernel | null = null;
  private generation = 0;
  private dirty = false;
  private asking = false;
  private gatherTimer: Timer;
  private busyTimer: Timer;
}
