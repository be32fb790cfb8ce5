import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Listing } from '../src/listing.js';
import { NOTHING, type Situation, view } from '../src/state.js';

const object = { name: 'adata', identifier: true, nObs: 1, nVars: 1, view: false, backed: false, columns: [] };
const listing = (objects: Listing['objects'], more = 0, installed = true): Listing => ({
  objects,
  more,
  alias: null,
  installed
});
const idle: Situation = { ...NOTHING, notebook: true, status: 'idle', language: 'python' };

const kinds: [string, Partial<Situation>, string][] = [
  ['no notebook', { notebook: false }, 'no-notebook'],
  ['no kernel', { status: null }, 'no-kernel'],
  ['a kernel that died', { status: 'dead' }, 'dead'],
  ['a kernel that starts', { status: 'starting', language: null }, 'starting'],
  ['a kernel that restarts', { status: 'restarting' }, 'starting'],
  ['a kernel of another language', { language: 'R' }, 'language'],
  ['a kernel that restarts in another language', { status: 'restarting', language: 'R' }, 'language'],
  ['a question on its way', { listing: null }, 'starting'],
  ['a failed question', { failure: 'NameError' }, 'failed'],
  ['nothing found', { listing: listing([]) }, 'empty'],
  ['objects', { listing: listing([object]) }, 'list'],
  ['a busy kernel', { slow: true, status: 'busy' }, 'busy'],
  ['a short cell', { slow: false, status: 'busy', listing: listing([object]) }, 'list']
];

for (const [name, situation, kind] of kinds) {
  test(`${name}: ${kind}`, () => {
    const seen = view({ ...idle, ...situation });
    assert.equal(seen.kind, kind);
    assert.notEqual(seen.message, '');
  });
}

test('a busy kernel keeps the objects of before and says so', () => {
  const seen = view({ ...idle, status: 'busy', slow: true, listing: listing([object]) });
  assert.equal(seen.listing?.objects.length, 1);
  assert.match(seen.message, /from before/);
});

test('the language is named', () => {
  assert.match(view({ ...idle, language: 'R' }).message, /speaks R/);
});

test('objects are counted, with those left out and a missing diffnb', () => {
  assert.match(view({ ...idle, listing: listing([object]) }).message, /^One AnnData/);
  assert.match(view({ ...idle, listing: listing([object, object], 3) }).message, /^5 .* first 2 are shown/);
  assert.match(view({ ...idle, listing: listing([object], 0, false) }).message, /%pip install diffnb/);
});
