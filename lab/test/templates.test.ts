import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TUTORIALS } from '../src/generated/tutorials.js';
import { analysisNotebook, explorationNotebook, freeName, readerOf } from '../src/templates.js';
import { contentOf } from '../src/tutorials.js';
import { HOSTILE } from './samples.js';
import { ENGLISH, MARKED, untranslated } from './translations.js';

const code = (content: { cells: readonly { cell_type: string; source: string }[] }) =>
  content.cells.filter(cell => cell.cell_type === 'code').map(cell => cell.source);

test('a file is read by the function for its kind', () => {
  assert.equal(readerOf('cells.h5ad'), 'read_h5ad');
  assert.equal(readerOf('CELLS.ZARR'), 'read_zarr');
  assert.equal(readerOf('cells.zarr.zip'), 'read_zarr');
  assert.equal(readerOf('cells.csv'), null);
});

test('a file is loaded, then explored', () => {
  const [load, explore] = code(explorationNotebook('a "b".h5ad'));
  assert.match(load ?? '', /adata = ad\.read_h5ad\("a \\"b\\"\.h5ad"\)/);
  assert.equal(explore, 'dn.panels.explore(adata)');
});

test('the prose and the comments of the analysis are translated, its code is not', () => {
  const { cells } = analysisNotebook('x.h5ad', MARKED);
  const prose = cells.filter(cell => cell.cell_type === 'markdown').map(cell => cell.source);
  assert.ok(prose.length >= 4);
  assert.doesNotMatch(untranslated(prose.join('\n')), /\p{L}/u);
  const comments = code({ cells }).flatMap(source => source.match(/#.*/g) ?? []);
  assert.equal(comments.length, 1);
  assert.doesNotMatch(untranslated(comments.join('\n')), /\p{L}/u);
});

test('a translation cannot add a line to the code', () => {
  const broken = { ...ENGLISH, __: (text: string) => `${text}\nimport os` };
  assert.doesNotMatch(code(analysisNotebook('x.h5ad', broken)).join('\n'), /^import os/m);
});

test('no file name adds a line to the code', () => {
  const lines = (name: string) => code(explorationNotebook(`${name}.h5ad`))[0]?.split('\n').length;
  for (const name of HOSTILE) {
    assert.equal(lines(name), lines('plain'));
  }
});

test('the analysis loads a file or simulates', () => {
  assert.match(code(analysisNotebook(null, ENGLISH)).join('\n'), /dn\.datasets\.scrna\(/);
  assert.match(code(analysisNotebook('x.zarr', ENGLISH)).join('\n'), /ad\.read_zarr\("x\.zarr"\)/);
});

test('no two cells have the same id', () => {
  const ids = analysisNotebook(null, ENGLISH).cells.map(cell => cell.id);
  assert.equal(new Set(ids).size, ids.length);
});

test('a new file name is never one that is taken', () => {
  assert.equal(freeName('quick', new Set()), 'quick.ipynb');
  assert.equal(freeName('quick', new Set(['quick.ipynb', 'quick-1.ipynb'])), 'quick-2.ipynb');
});

test('tutorials are embedded without outputs, with titles and without dead links', async () => {
  assert.ok(TUTORIALS.length > 0);
  for (const tutorial of TUTORIALS) {
    const { cells } = await contentOf(tutorial);
    assert.match(tutorial.title, /\w/);
    assert.ok(cells.every(cell => cell.cell_type !== 'code' || cell.outputs?.length === 0));
    const prose = cells.filter(cell => cell.cell_type === 'markdown').map(cell => cell.source);
    assert.doesNotMatch(prose.join('\n'), /\]\(\.\.?\//);
  }
});
