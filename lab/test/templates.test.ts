import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TUTORIALS } from '../src/generated/tutorials.js';
import { analysis, exploring, freeName, reader } from '../src/templates.js';
import { contentOf } from '../src/tutorials.js';
import { HOSTILE } from './samples.js';

const code = (content: { cells: readonly { cell_type: string; source: string }[] }) =>
  content.cells.filter(cell => cell.cell_type === 'code').map(cell => cell.source);

test('a file is read by the function for its kind', () => {
  assert.equal(reader('cells.h5ad'), 'read_h5ad');
  assert.equal(reader('CELLS.ZARR'), 'read_zarr');
  assert.equal(reader('cells.zarr.zip'), 'read_zarr');
  assert.equal(reader('cells.csv'), null);
});

test('a file is loaded, then explored', () => {
  const [load, explore] = code(exploring('a "b".h5ad'));
  assert.match(load ?? '', /adata = ad\.read_h5ad\("a \\"b\\"\.h5ad"\)/);
  assert.equal(explore, 'dn.panels.explore(adata)');
});

test('no file name adds a line to the code', () => {
  const lines = (name: string) => code(exploring(`${name}.h5ad`))[0]?.split('\n').length;
  for (const name of HOSTILE) {
    assert.equal(lines(name), lines('plain'));
  }
});

test('the analysis loads a file or simulates', () => {
  assert.match(code(analysis(null)).join('\n'), /dn\.datasets\.scrna\(/);
  assert.match(code(analysis('x.zarr')).join('\n'), /ad\.read_zarr\("x\.zarr"\)/);
});

test('cells have identities of their own', () => {
  const ids = analysis(null).cells.map(cell => cell.id);
  assert.equal(new Set(ids).size, ids.length);
});

test('a new name is never one that is taken', () => {
  assert.equal(freeName('quick', new Set()), 'quick.ipynb');
  assert.equal(freeName('quick', new Set(['quick.ipynb', 'quick-1.ipynb'])), 'quick-2.ipynb');
});

test('tutorials are there, fresh, with titles and without dead links', async () => {
  assert.ok(TUTORIALS.length > 0);
  for (const tutorial of TUTORIALS) {
    const { cells } = await contentOf(tutorial);
    assert.match(tutorial.title, /\w/);
    assert.ok(cells.every(cell => cell.cell_type !== 'code' || cell.outputs?.length === 0));
    const prose = cells.filter(cell => cell.cell_type === 'markdown').map(cell => cell.source);
    assert.doesNotMatch(prose.join('\n'), /\]\(\.\.?\//);
  }
});
