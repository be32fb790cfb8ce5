import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Listing } from '../src/listing.js';
import { NO_NOTEBOOK, type Situation, view } from '../src/state.js';
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
const listing = (objects: Listing['objects'], more = 0, installed = true): Listing => ({
  objects,
  more,
  alias: null,
  installed
});
const idle: Situation = { ...NO_NOTEBOOK, notebook: true, status: 'idle', language: 'python' };

const kinds: [string, Partial<Situation>, string][] = [
  ['no notebook', { notebook: false }, 'no-notebook'],
  ['no kernel', { status: null }, 'no-kernel'],
  ['a kernel that died', { status: 'dead' }, 'dead'],
  ['a kernel that starts', { status: 'starting', language: null }, 'starting'],
  ['a kernel that restarts', { status: 'restarting' }, 'starting'],
  ['a kernel of another language', { language: 'R' }, 'language'],
  ['a kernel that restarts in another language', { status: 'restarting', language: 'R' }, 'language'],
  ['a pending request', { listing: null }, 'starting'],
  ['a failed request', { failure: 'NameError' }, 'failed'],
  ['nothing found', { listing: listing([]) }, 'empty'],
  ['objects', { listing: listing([object]) }, 'list'],
  ['a busy kernel', { slow: true, status: 'busy' }, 'busy'],
  ['a short cell', { slow: false, status: 'busy', listing: listing([object]) }, 'list']
];

for (const [name, situation, kind] of kinds) {
  test(`${name}: ${kind}`, () => {
    const shown = view({ ...idle, ...situation }, ENGLISH);
    assert.equal(shown.kind, kind);
    assert.notEqual(shown.message, '');
  });
}

test('the last known objects of a busy kernel are shown as such', () => {
  const shown = view({ ...idle, status: 'busy', slow: true, listing: listing([object]) }, ENGLISH);
  assert.equal(shown.listing?.objects.length, 1);
  assert.match(shown.message, /may be out of date/);
});

test('the language is named', () => {
  assert.match(view({ ...idle, language: 'R' }, ENGLISH).message, /language of this kernel is R\./);
});

test('objects are counted, and a list that is cut and a missing diffnb are mentioned', () => {
  const message = (...given: Parameters<typeof listing>) =>
    view({ ...idle, listing: listing(...given) }, ENGLISH).message;
  assert.equal(message([object]), '1 AnnData object in this kernel.');
  assert.match(message([object, object], 3), /^5 AnnData objects .* first 2 are shown/);
  assert.match(message([object], 0, false), /run %pip install diffnb/);
});
