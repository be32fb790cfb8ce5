import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  type DataObject,
  describeColumn,
  describeShape,
  EXPRESSION,
  isBroken,
  parseReply,
  type Reply
} from '../src/listing.js';
import { HOSTILE } from './samples.js';
import { ENGLISH } from './translations.js';

/** What a kernel sends: JSON in ASCII, in base64, as the repr of a string. */
function reply(value: unknown): Reply {
  const escaped = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const ascii = JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped);
  return { status: 'ok', data: { 'text/plain': `'${Buffer.from(ascii).toString('base64')}'` } };
}

const adata: DataObject = {
  name: 'adata',
  identifier: true,
  nObs: 120_000,
  nVars: 40,
  view: false,
  backed: false,
  columns: [],
  sampleColumns: [],
  covariates: []
};

test('the reply of a kernel is parsed', () => {
  const listing = { objects: [adata], more: 0, alias: 'dn', installed: true };
  assert.deepEqual(parseReply(reply(listing), ENGLISH), listing);
});

test('an error of the kernel is named', () => {
  const answer = { status: 'error' as const, ename: 'NameError', evalue: 'no exec' };
  assert.throws(() => parseReply(answer, ENGLISH), /NameError: no exec/);
});

test('a missing reply, and one of another form, are refused', () => {
  assert.throws(() => parseReply(undefined, ENGLISH), /did not answer/);
  assert.throws(() => parseReply({ status: 'ok', data: { 'text/plain': '[1, 2]' } }, ENGLISH), /cannot be read/);
});

test('objects that cannot be read are recognized', () => {
  assert.equal(isBroken({ name: 'a', error: 'OSError' }), true);
  assert.equal(isBroken(adata), false);
});

test('shapes and columns are described briefly', () => {
  assert.equal(describeShape(adata, ENGLISH), '120,000 × 40');
  assert.equal(describeShape({ ...adata, view: true, backed: true }, ENGLISH), '120,000 × 40, view, on disk');
  assert.equal(describeColumn({ name: 'condition', levels: 2, exact: true, samples: [] }), 'condition (2)');
  assert.equal(describeColumn({ name: 'condition', levels: 2, exact: false, samples: [] }), 'condition (≥ 2)');
});

test('the expression is one line of Python and finds nothing where there is no anndata', t => {
  const python = process.env.PYTHON ?? 'python3';
  if (spawnSync(python, ['--version']).error) {
    t.skip(`no ${python}`);
    return;
  }
  assert.equal(EXPRESSION.includes('\n'), false);
  const code = 'import sys; print(repr(eval(sys.argv[1], {"adata": 1})))';
  const done = spawnSync(python, ['-I', '-c', code, EXPRESSION], { encoding: 'utf8' });
  const listing = parseReply({ status: 'ok', data: { 'text/plain': done.stdout.trim() } }, ENGLISH);
  assert.deepEqual([listing.objects, listing.more, listing.alias], [[], 0, null], done.stderr);
});

test('names are not changed in transit', () => {
  const objects = HOSTILE.map(name => ({ ...adata, name, columns: [{ name, levels: 2, exact: true, samples: [] }] }));
  const names = parseReply(reply({ objects, more: 0, alias: null, installed: true }), ENGLISH).objects.map(o => o.name);
  assert.deepEqual(names, HOSTILE);
});
