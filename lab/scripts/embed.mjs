// Writes src/generated: the Python code that lists the objects of a kernel, and the tutorials, one module each so that
// a tutorial is loaded only when it is opened.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const lab = join(dirname(fileURLToPath(import.meta.url)), '..');
const notebooks = join(lab, '..', 'notebooks');
const target = join(lab, 'src', 'generated');

const text = source => (Array.isArray(source) ? source.join('') : source);

// relative links and pictures are files of the repository, which a copy of the notebook cannot reach
const unlinked = markdown => markdown.replace(/!?\[([^\]]*)\]\((?![a-z]+:|#)[^)]*\)/g, '$1');

function withoutOutputs(notebook) {
  return {
    cells: notebook.cells.map((cell, i) => ({
      ...(cell.cell_type === 'code' ? { execution_count: null, outputs: [] } : {}),
      ...(cell.attachments ? { attachments: cell.attachments } : {}),
      cell_type: cell.cell_type,
      id: cell.id ?? `cell-${i}`,
      metadata: {},
      source: cell.cell_type === 'markdown' ? unlinked(text(cell.source)) : text(cell.source)
    })),
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5
  };
}

function title(notebook, file) {
  const heading = notebook.cells
    .filter(cell => cell.cell_type === 'markdown')
    .map(cell => /^#\s+(.+)$/m.exec(text(cell.source)))
    .find(Boolean);
  return heading ? heading[1].replace(/[`*]/g, '').trim() : file;
}

const moduleOf = value => `const text: string = ${JSON.stringify(value)};\nexport default text;\n`;

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
// which columns could be conditions is decided in one file of the package, and a kernel may lack the package
const rules = readFileSync(join(lab, '..', 'diffnb', '_candidates.py'), 'utf8');
const listing = readFileSync(join(lab, 'kernel', 'listing.py'), 'utf8');
writeFileSync(
  join(target, 'listing.ts'),
  moduleOf(listing.replace(/^from diffnb\._candidates import .*$/m, () => rules))
);

const entries = readdirSync(notebooks)
  .filter(file => /^\d\d_.*\.ipynb$/.test(file))
  .sort()
  .map(file => {
    const notebook = JSON.parse(readFileSync(join(notebooks, file), 'utf8'));
    const stem = file.replace(/\.ipynb$/, '');
    writeFileSync(join(target, `${stem}.ts`), moduleOf(JSON.stringify(withoutOutputs(notebook))));
    return `  { file: ${JSON.stringify(file)}, title: ${JSON.stringify(title(notebook, stem))}, load: () => import('./${stem}.js') }`;
  });
writeFileSync(
  join(target, 'tutorials.ts'),
  `import type { Tutorial } from '../tutorials.js';\n\nexport const TUTORIALS: readonly Tutorial[] = [\n${entries.join(',\n')}\n];\n`
);
console.log(`${entries.length} tutorial(s) embedded`);
