import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Listing } from '../src/listing.js';
import type { View } from '../src/state.js';
import { type WatchedKernel, Watcher } from '../src/watcher.js';

const object = { name: 'adata', identifier: true, nObs: 1, nVars: 1, view: false, backed: false, columns: [] };
const full: Listing = { objects: [object], more: 0, alias: null, installed: true };
const empty: Listing = { ...full, objects: [] };
const DELAYS = { gather: 5, patience: 40 };

// time stands still but for wait: a slow machine changes nothing
mock.timers.enable({ apis: ['setTimeout'] });

async function wait(ms: number): Promise<void> {
  for (let i = 0; i < ms; i++) {
    mock.timers.tick(1);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** A kernel that answers what it is told to, and counts how often it was asked. */
class FakeKernel implements WatchedKernel {
  status = 'idle';
  asked = 0;
  answer: () => Promise<Listing> = async () => full;

  constructor(private readonly speaks = 'python') {}

  async language(): Promise<string> {
    return this.speaks;
  }

  list(): Promise<Listing> {
    this.asked++;
    return this.answer();
  }
}

function watch() {
  const views: View[] = [];
  const watcher = new Watcher(view => views.push(view), DELAYS);
  return { watcher, last: () => views.at(-1) as View };
}

/** Let a kernel change its status, as Jupyter reports it. */
function become(watcher: Watcher, kernel: FakeKernel, status: string): void {
  kernel.status = status;
  watcher.statusChanged(status);
}

test('the objects of a kernel are listed when its notebook comes in front', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  assert.deepEqual([last().kind, kernel.asked], ['list', 1]);
});

test('many cells that run at once are one question', async () => {
  const { watcher } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  for (let i = 0; i < 10; i++) {
    watcher.touch();
  }
  await wait(20);
  assert.equal(kernel.asked, 2);
});

test('our own question does not lead to another', async () => {
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
  assert.deepEqual([last().kind, kernel.asked], ['list', 1]);
});

test('a busy kernel is not asked, is called busy after a while, and asked when it is done', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  await wait(20);
  become(watcher, kernel, 'busy');
  watcher.touch();
  await wait(15);
  assert.equal(last().kind, 'list');
  await wait(60);
  assert.deepEqual([last().kind, kernel.asked], ['busy', 1]);
  become(watcher, kernel, 'idle');
  await wait(20);
  assert.deepEqual([last().kind, kernel.asked], ['list', 2]);
});

test('a restart empties the list at once, and an answer of the old kernel is not believed', async () => {
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

test('a kernel that restarts before it has said its language is listed all the same', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  kernel.status = 'starting';
  watcher.attach(true, kernel);
  become(watcher, kernel, 'restarting');
  become(watcher, kernel, 'idle');
  await wait(20);
  assert.equal(last().kind, 'list');
});

test('another notebook shows nothing of the one before', async () => {
  const { watcher, last } = watch();
  watcher.attach(true, new FakeKernel());
  await wait(20);
  watcher.attach(true, null);
  assert.deepEqual([last().kind, last().listing], ['no-kernel', null]);
  watcher.attach(false, null);
  await wait(20);
  assert.equal(last().kind, 'no-notebook');
});

test('a kernel of another language is never asked', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel('R');
  watcher.attach(true, kernel);
  watcher.touch();
  await wait(20);
  assert.deepEqual([last().kind, kernel.asked], ['language', 0]);
});

test('a question that fails is told, and the next one may go well', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  kernel.answer = () => Promise.reject(new Error('The kernel answered with NameError: x'));
  watcher.attach(true, kernel);
  await wait(20);
  assert.deepEqual([last().kind, last().message], ['failed', 'The kernel answered with NameError: x']);
  kernel.answer = async () => full;
  watcher.touch();
  await wait(20);
  assert.equal(last().kind, 'list');
});

test('nothing is reported after the end', async () => {
  const { watcher, last } = watch();
  const kernel = new FakeKernel();
  watcher.attach(true, kernel);
  watcher.dispose();
  await wait(20);
  assert.deepEqual([last().kind, kernel.asked], ['starting', 0]);
});
