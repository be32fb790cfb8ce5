import '../browser.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, asFloats } from '../../../diffnb/panels/static/feature_map/buffers.js';
import { load, type Module } from '../../../diffnb/panels/static/loader.js';
import { listen, save } from '../../../diffnb/panels/static/shared/model.js';
import { luminanceOf } from '../../../diffnb/panels/static/shared/theme.js';
import { describeProgress, describeTimeLeft } from '../../../diffnb/panels/static/status.js';
import { describeControls } from '../../../diffnb/panels/static/tooltips.js';

// Node imports from data: URLs, browsers from blob: URLs as well
const dataUrl = (text: string) => `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;

test('modules are loaded with their imports, from any folder', async () => {
  const modules: Module[] = [
    { name: 'shared/number.js', text: 'export const NUMBER = 20;', imports: {} },
    {
      name: 'map/double.js',
      text: "import { NUMBER } from '../shared/number.js';\nexport const double = () => 2 * NUMBER;",
      imports: { '../shared/number.js': 'shared/number.js' }
    },
    {
      name: 'map/entry.js',
      text: "import { NUMBER } from '../shared/number.js';\nimport { double } from './double.js';\nexport default NUMBER + double();",
      imports: { '../shared/number.js': 'shared/number.js', './double.js': 'map/double.js' }
    }
  ];
  assert.equal(await load(modules, dataUrl), 60);
});

test('an error in a module names its file', async () => {
  const modules = [{ name: 'broken.js', text: 'throw new Error("broken");', imports: {} }];
  await assert.rejects(load(modules, dataUrl), error => String((error as Error).stack).includes('diffnb/broken.js'));
});

test('buffers are read at any offset in a message', () => {
  const message = new Uint8Array([0, 0, 0, ...new Uint8Array(Float32Array.of(1.5, -2).buffer)]);
  const view = new DataView(message.buffer, 3, 8);
  assert.deepEqual([...asFloats(view)], [1.5, -2]);
  assert.equal(asBytes(view).length, 8);
  assert.equal(asBytes(view)[3], message[6]);
});

test('handlers are registered until listening is stopped', () => {
  const handlers = new Map<string, Set<unknown>>();
  const model = {
    on: (event: string, handler: unknown) => handlers.set(event, new Set([handler])),
    off: (event: string, handler: unknown) => handlers.get(event)?.delete(handler)
  };
  const handler = () => {};
  const stop = listen(model, { 'change:a': handler, 'msg:custom': handler });
  assert.deepEqual(
    [...handlers.values()].map(set => set.has(handler)),
    [true, true]
  );
  stop();
  assert.deepEqual(
    [...handlers.values()].map(set => set.size),
    [0, 0]
  );
});

test('a trait is set and sent', () => {
  const done: unknown[] = [];
  const model = {
    get: () => '',
    set: (trait: string, value: string) => done.push([trait, value]),
    save_changes: () => done.push('sent'),
    send: () => {},
    on: () => {},
    off: () => {}
  };
  save<{ query: string }, 'query'>(model, 'query', 'gene');
  assert.deepEqual(done, [['query', 'gene'], 'sent']);
});

test('luminance distinguishes dark from light backgrounds and ignores transparent ones', () => {
  assert.equal(luminanceOf('rgb(255, 255, 255)'), 1);
  assert.ok((luminanceOf('rgb(17, 17, 17)') ?? 1) < 0.1);
  assert.equal(luminanceOf('rgba(0, 0, 0, 0)'), null);
  assert.equal(luminanceOf('transparent'), null);
});

test('progress is described as far as it is known', () => {
  assert.equal(describeProgress('permutations', 3, 99), ' · permutations 3 of 99');
  assert.equal(describeProgress('graph', 0, 0), ' · graph');
  assert.equal(describeProgress('', 3, 99), '');
});

test('the time left follows from the pace of a step, once that is known', () => {
  assert.equal(describeTimeLeft(10, 5, 10), ' · about 10 s left');
  assert.equal(describeTimeLeft(60, 1, 10), ' · about 9 min left');
  assert.equal(describeTimeLeft(3600, 1, 3), ' · about 2.0 h left');
  assert.equal(describeTimeLeft(1, 1, 10), '', 'too early to tell');
  assert.equal(describeTimeLeft(10, 0, 10), '');
  assert.equal(describeTimeLeft(10, 3, 0), '', 'a step of unknown length');
});

test('every control has the tooltip of its label, and its field the description', () => {
  const fields = '<label class="widget-label">vectors</label><input>';
  document.body.innerHTML = `<div class="diffnb-control">${fields}</div><div class="diffnb-control"><label>x</label></div>`;
  describeControls(document.body, { vectors: 'Differential vectors per condition.' });
  const [known, unknown] = document.querySelectorAll('.diffnb-control');
  assert.equal(known?.getAttribute('title'), 'Differential vectors per condition.');
  assert.equal(known?.querySelector('input')?.getAttribute('aria-description'), 'Differential vectors per condition.');
  assert.equal(unknown?.getAttribute('title'), null);
});
