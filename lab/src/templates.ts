/** Notebooks that the extension writes, and their file names. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { literal } from './python.js';

export interface NotebookCell {
  readonly cell_type: 'code' | 'markdown';
  readonly id: string;
  readonly metadata: Record<string, never>;
  readonly source: string;
  readonly execution_count?: null;
  readonly outputs?: readonly never[];
}

export interface NotebookContent {
  readonly cells: readonly NotebookCell[];
  readonly metadata: { readonly kernelspec: Record<'display_name' | 'language' | 'name', string> };
  readonly nbformat: 4;
  readonly nbformat_minor: 5;
}

type Draft = readonly ['code' | 'markdown', string];

function notebook(drafts: readonly Draft[]): NotebookContent {
  return {
    cells: drafts.map(([cell_type, source], i) => ({
      cell_type,
      id: `diffnb-${i}`,
      metadata: {},
      source,
      ...(cell_type === 'code' ? { execution_count: null, outputs: [] } : {})
    })),
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5
  };
}

const READERS: readonly (readonly [RegExp, string])[] = [
  [/\.h5ad$/i, 'read_h5ad'],
  [/\.zarr(\.zip)?$/i, 'read_zarr']
];

/** The function of anndata that reads a file, by its name; null for files that are no AnnData. */
export function readerOf(path: string): string | null {
  return READERS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

function loadingCode(path: string): string {
  const read = readerOf(path) ?? 'read_h5ad';
  return `import anndata as ad\nimport diffnb as dn\n\nadata = ad.${read}(${literal(path)})\nadata`;
}

const SIMULATED = `import diffnb as dn

adata = dn.datasets.scrna(n_cells=500, n_genes=600, n_donors=8, n_mean=60, n_spread=60, module_size=30)
adata = adata[:, adata.X.getnnz(axis=0) >= 40].copy()
adata`;

const DISC = `dn.tl.disc(adata, groupby, sample_key=sample_key, n_permutations=99)
dn.get.disc_evidence(adata)`;

const PROPOSED = `columns = dn.get.candidate_conditions(adata)
groupby = columns.index[0]
sample_key = columns["samples"].iloc[0] or None
groupby, sample_key`;

/** A notebook that loads a file and shows what is in it; `path` is relative to the notebook. */
export function explorationNotebook(path: string): NotebookContent {
  return notebook([
    ['code', loadingCode(path)],
    ['code', 'dn.panels.explore(adata)']
  ]);
}

/** A differential analysis from loading to figures, of a file or, for null, of simulated cells. */
export function analysisNotebook(path: string | null, trans: TranslationBundle): NotebookContent {
  return notebook([
    section(
      `# ${trans.__('Differential analysis')}`,
      trans.__('Which features, and which groups of features, make the conditions differ?')
    ),
    ['code', path === null ? SIMULATED : loadingCode(path)],
    section(
      `## ${trans.__('What is in the data')}`,
      trans.__(
        'The panel lists the columns that could hold conditions and samples. Change the proposal below if others are meant.'
      )
    ),
    ['code', 'dn.panels.explore(adata)'],
    ['code', path === null ? 'groupby = "condition"\nsample_key = "donor"' : columnsCode(trans)],
    section(
      `## ${trans.__('Single features')}`,
      trans.__('How does each feature differ: in its mean, spread, distribution, or connectivity?')
    ),
    ['code', 'dn.tl.scorecard(adata, groupby, sample_key=sample_key)\ndn.get.scorecard(adata).head(20)'],
    ['code', 'dn.pl.scorecard(adata);'],
    section(
      `## ${trans.__('Groups of features')}`,
      trans.__(
        'DiSC finds features that are connected in one condition and not in the others. Groups are named only on evidence: read it first.'
      )
    ),
    ['code', DISC],
    ['code', 'dn.get.disc_groups(adata)'],
    ['code', 'dn.pl.disc_significance(adata);'],
    ['code', 'dn.pl.disc_vectors(adata);'],
    section(`## ${trans.__('A closer look')}`),
    ['code', 'dn.panels.disc(adata, groupby, sample_key=sample_key)']
  ]);
}

function section(heading: string, ...paragraphs: readonly string[]): Draft {
  return ['markdown', [heading, ...paragraphs].join('\n\n')];
}

/** Code that proposes the columns of a file, to be edited. */
function columnsCode(trans: TranslationBundle): string {
  const likely = trans.__('the likeliest column of conditions, and the one of its samples (donors, subjects), if any');
  return `${comment(likely)}\n${PROPOSED}`;
}

/** A Python comment, always on one line. */
function comment(text: string): string {
  return `# ${text.replace(/\s+/g, ' ')}`;
}

/** The first file name that is not taken: `stem.ipynb`, `stem-1.ipynb`, … */
export function freeName(stem: string, taken: ReadonlySet<string>): string {
  for (let i = 0; ; i++) {
    const name = i === 0 ? `${stem}.ipynb` : `${stem}-${i}.ipynb`;
    if (!taken.has(name)) {
      return name;
    }
  }
}
