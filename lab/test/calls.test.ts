import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCalls, type Call, type Columns, codeOf, isAvailable } from '../src/calls.js';
import type { DataObject, Listing } from '../src/listing.js';
import { HOSTILE } from './samples.js';
import { ENGLISH } from './translations.js';

const columns = [{ name: 'condition', levels: 2, exact: true, samples: [] }];
const adata: DataObject = {
  name: 'adata',
  identifier: true,
  nObs: 10,
  nVars: 4,
  view: false,
  backed: false,
  columns,
  sampleColumns: ['condition', 'donor'],
  covariates: ['condition', 'age']
};
const donors: DataObject = {
  ...adata,
  columns: [{ name: 'condition', levels: 2, exact: true, samples: ['donor'] }]
};
const chosen = (groupby: string | null, more: Partial<Columns> = {}): Columns => ({
  groupby,
  samples: null,
  covariates: [],
  ...more
});
const listing: Listing = { objects: [adata], more: 0, alias: 'dn', installed: true };
const CALLS = allCalls(ENGLISH);
const call = (id: string) => CALLS.find(each => each.id === id) as Call;

test('a panel is one line', () => {
  assert.equal(codeOf(call('panels.disc'), adata, chosen('condition'), listing), 'dn.panels.disc(adata, "condition")');
  assert.equal(codeOf(call('panels.explore'), adata, chosen('condition'), listing), 'dn.panels.explore(adata)');
});

test('a tool is followed by its table', () => {
  const code = codeOf(call('tl.scorecard'), adata, chosen('condition'), listing);
  assert.equal(code, 'dn.tl.scorecard(adata, "condition")\ndn.get.scorecard(adata)');
});

test('diffnb is imported where the kernel has not, and called by the name it has', () => {
  const code = (alias: string | null) => codeOf(call('panels.dufs'), adata, chosen(null), { ...listing, alias });
  assert.equal(code(null), 'import diffnb as dn\n\ndn.panels.dufs(adata)');
  assert.equal(code('diffnb'), 'diffnb.panels.dufs(adata)');
});

test('without a column of conditions the calls that need one are not offered', () => {
  const bare = { ...adata, columns: [] };
  const offered = CALLS.filter(each => isAvailable(each, bare)).map(each => each.id);
  assert.deepEqual(offered.includes('panels.explore'), true);
  assert.deepEqual(offered.includes('panels.compare'), false);
  assert.deepEqual(offered.includes('tl.disc'), false);
  assert.equal(codeOf(call('panels.disc'), bare, chosen(null), listing), 'dn.panels.disc(adata)');
});

test('hostile names add no line and leave no literal', () => {
  for (const name of HOSTILE) {
    const code = codeOf(call('panels.disc'), { ...adata, name, identifier: false }, chosen(name), listing);
    assert.match(code, /^dn\.panels\.disc\(globals\(\)\["(?:[^"\\]|\\.)*"\], "(?:[^"\\]|\\.)*"\)$/u);
  }
});

test('no two calls of a kind have the same label', () => {
  const labels = CALLS.map(each => `${each.kind}: ${each.label}`);
  assert.equal(new Set(labels).size, CALLS.length);
});

test('samples and covariates are named where the call takes them', () => {
  const columns = chosen('condition', { samples: 'donor', covariates: ['age'] });
  const code = (id: string) => codeOf(call(id), donors, columns, listing).split('\n')[0];
  assert.equal(code('tl.scorecard'), 'dn.tl.scorecard(adata, "condition", sample_key="donor", covariates=["age"])');
  assert.equal(code('tl.informed_distance'), 'dn.tl.informed_distance(adata, covariates=["age"])');
  assert.equal(code('tl.dufs'), 'dn.tl.dufs(adata)');
});

test('a panel is told where the likely samples are not wanted', () => {
  assert.equal(
    codeOf(call('panels.disc'), donors, chosen('condition'), listing),
    'dn.panels.disc(adata, "condition", sample_key=None)'
  );
  assert.match(codeOf(call('tl.disc'), donors, chosen('condition'), listing), /^dn\.tl\.disc\(adata, "condition"\)/);
});
