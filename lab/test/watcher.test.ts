import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Listing } from '../src/listing.js';
import { type View, view } from '../src/state.js';
import { type WatchedKernel, Watcher } from '../src/watcher.js';
import { ENGLISH } from './translations.js';

const object = {
  name: 'adata',
  identifier: true,
  nObs: 1,
  nVars: 1,
  view: false,
  backed: false,
  columns: [],
  sampleColumns: [],
  covariates: []
};
const full: Listing = { objects: [object], more: 0, alias: null, installed: true };
const empty: Listing = { ...full, objects: [] };
const DELAYS = { debounceMs: 5, busyMs: 40 };

// time passes only in wait, so that the speed of the machine does not matter
mock.timers.enable({ apis: ['setTimeout'] });

async function wait(ms: number): Promise<void> {
  for (let i = 0; i < ms; i++) {
    mock.timers.tick(1);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** A kernel with a given answer, which counts its requests. */
class FakeKernel implements WatchedKernel {
  status = 'idle';
  requests = 0;
  answer: () => Promise<Listing> = async () => full;

  constructor(private readonly languageName = 'python') {}

  async language(): Promise<string> {
    return this.languageName;
  }

  list(): Promise<Listing> {
    this.requests++;
    return this.answer();
  }
}

function watch() {
  const views: View[] = [];
  const watcher = new Watcher(situation => views.push(view(situation, ENGLISH)), DELAYS);
  return { watcher, last: () => views.at(-1) as View };
}

/** Change the status of a kernel, as Jupyter reports it. */
function become(watcher: Watcher, kernel: FakeKernel, status: string): void {
  kernel.status = status;
  watcher.statusChanged(status);
}

test('the objects of a kernel are listed when its notebook becomes active', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  assert.deepEqual([last().kind, kernel.requests], ['list', 1]);
});

test('many cells that run at once lead to one request', async () => {
  const { watcher } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  for (let i = 0; i < 10; i++) {
    watcher.invalidate();
  }
  await wait(20);
  assert.equal(kernel.requests, 2);
});

test('a request does not lead to another', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  kernel.answer = async () => {
    become(watcher, kernel, 'busy');
    await Promise.resolve();
    become(watcher, kernel, 'idle');
    return full;
  };
  watcher.attach(true, kernel);
  await wait(60);
  assert.deepEqual([last().kind, kernel.requests], ['list', 1]);
});

test('a busy kernel gets no request, is shown as busy after a while, and is listed when it is idle', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  become(watcher, kernel, 'busy');
  watcher.invalidate();
  await wait(15);
  assert.equal(last().kind, 'list');
  await wait(60);
  assert.deepEqual([last().kind, kernel.requests], ['busy', 1]);
  become(watcher, kernel, 'idle');
  await wait(20);
  assert.deepEqual([last().kind, kernel.requests], ['list', 2]);
});

test('a restart empties the list at once, and a late reply of the previous kernel is ignored', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  let late: (listing: Listing) => void = () => {};
  kernel.answer = () =>
    new Promise(resolve => {
      late = resolve;
    });
  watcher.attach(true, kernel);
  await wait(20);
  become(watcher, kernel, 'restarting');
  assert.deepEqual([last().kind, last().listing], ['starting', null]);
  late(full);
  kernel.answer = async () => empty;
  become(watcher, kernel, 'idle');
  await wait(20);
  assert.equal(last().kind, 'empty');
});

test('a kernel that restarts before its language is known is listed', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  kernel.status = 'starting';
  watcher.attach(true, kernel);
  become(watcher, kernel, 'restarting');
  become(watcher, kernel, 'idle');
  await wait(20);
  assert.equal(last().kind, 'list');
});

test('nothing of the previous notebook is shown for another one', async () => {
  const { watcher, last } = watch();
  watcher.attach(true, new FakeKernel());
  await wait(20);
  watcher.attach(true, null);
  assert.deepEqual([last().kind, last().listing], ['no-kernel', null]);
  watcher.attach(false, null);
  await wait(20);
  assert.equal(last().kind, 'no-notebook');
});

test('a kernel of another language gets no request', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel('R');
  watcher.attach(true, kernel);
  watcher.invalidate();
  await wait(20);
  assert.deepEqual([last().kind, kernel.requests], ['language', 0]);
});

test('a request that fails is shown, and the next one may succeed', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  kernel.answer = () => Promise.reject(new Error('The kernel answered with NameError: x'));
  watcher.attach(true, kernel);
  await wait(20);
  assert.deepEqual([last().kind, last().message], ['failed', 'The kernel answered with NameError: x']);
  kernel.answer = async () => full;
  watcher.invalidate();
  await wait(20);
  assert.equal(last().kind, 'list');
});

test('nothing is reported after disposal', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  watcher.dispose();
  await wait(20);
  assert.deepEqual([last().kind, kernel.requests], ['starting', 0]);
});
