/** Notebooks that are written on the spot, and the names they get. */

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
export function reader(path: string): string | null {
  return READERS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

function loading(path: string): string {
  const read = reader(path) ?? 'read_h5ad';
  return `import anndata as ad\nimport diffnb as dn\n\nadata = ad.${read}(${literal(path)})\nadata`;
}

const SIMULATED = `import diffnb as dn

adata = dn.datasets.scrna(n_cells=500, n_genes=600, n_donors=8, n_mean=60, n_spread=60, module_size=30)
adata = adata[:, adata.X.getnnz(axis=0) >= 20].copy()
adata`;

/** A notebook that loads a file and shows what is in it; `path` as seen from the notebook. */
export function exploring(path: string): NotebookContent {
  return notebook([
    ['code', loading(path)],
    ['code', 'dn.panels.explore(adata)']
  ]);
}

/** A differential analysis from loading to figures, of a file or, for null, of simulated cells. */
export function analysis(path: string | null): NotebookContent {
  const chosen =
    path === null
      ? 'groupby = "condition"\nsample_key = "donor"'
      : 'groupby = "condition"  # a column of adata.obs that holds the conditions\nsample_key = None  # a column that holds donors or subjects, where there are several per condition';
  return notebook([
    [
      'markdown',
      '# Differential analysis\n\nWhich features, and which groups of features, make the conditions differ?'
    ],
    ['code', path === null ? SIMULATED : loading(path)],
    ['markdown', '## What is in the data\n\nThe panel lists the columns that could hold conditions. Name yours below.'],
    ['code', 'dn.panels.explore(adata)'],
    ['code', chosen],
    [
      'markdown',
      '## Single features\n\nBy what does each feature differ: mean, spread, distribution, or connectivity?'
    ],
    ['code', 'dn.tl.scorecard(adata, groupby, sample_key=sample_key)\ndn.get.scorecard(adata).head(20)'],
    ['code', 'dn.pl.scorecard(adata);'],
    [
      'markdown',
      '## Groups of features\n\nDiSC finds features that hang together in one condition and not in the others. Look at the p-values before the groups.'
    ],
    [
      'code',
      'dn.tl.disc(\n    adata, groupby, standardize="within", sample_key=sample_key, n_permutations=99, null="connectivity"\n)\ndn.get.disc_significance(adata).query("component == 1")'
    ],
    ['code', 'dn.pl.disc_significance(adata);'],
    ['code', 'dn.pl.disc_vectors(adata);'],
    ['markdown', '## Look closer'],
    ['code', 'dn.panels.disc(adata, groupby)']
  ]);
}

/** A name that is not taken: `stem.ipynb`, then `stem-1.ipynb`, … */
export function freeName(stem: string, taken: ReadonlySet<string>): string {
  for (let i = 0; ; i++) {
    const name = i === 0 ? `${stem}.ipynb` : `${stem}-${i}.ipynb`;
    if (!taken.has(name)) {
      return name;
    }
  }
}
