/** Every text in the sources that a user can read goes through the translator. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const SOURCES = join(import.meta.dirname, '..', '..', 'src');

/** Methods of a TranslationBundle. */
const TRANSLATING = new Set(['__', '_n', '_p', '_np']);

/** Texts, and constants of which the text, must not be translated. */
const EXEMPT: Readonly<Record<string, readonly string[]>> = {
  'listing.ts': ['EXPRESSION'], // an expression in Python
  'files.ts': ['Explore with diffnb'], // the name of a page in saved workspaces
  'templates.ts': ['Python 3', 'DISC', 'SIMULATED', 'PROPOSED'] // the name of a kernel, and cells of code
};

/** Two words, or one that is capitalized: what a sentence or a label has, and identifiers, classes and types have not. */
function isProse(text: string): boolean {
  return /^\p{Lu}\p{Ll}+$|\p{L}{2,}[.,:;?!]? +\p{L}{2,}/u.test(text) && !isCode(text);
}

/** Lines of Python, class names of CSS, SVG, and messages of Jupyter's protocol. */
function isCode(text: string): boolean {
  return /\b(import|dn\.|adata)\b|^(diffnb-[\w-]+ ?)+$|^<(svg|circle|ellipse|path|rect)\b|^groupby = /.test(text);
}

function isTranslated(node: ts.Node): boolean {
  const { parent } = node;
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) {
    return false;
  }
  return TRANSLATING.has(parent.expression.name.text);
}

/** Texts of a string or a template, without what is filled in. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) {
    return node.text;
  }
  return ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(span => span.literal)].map(part => part.text).join(' ')
    : null;
}

/** Declarations of which the texts are code, or are shown untranslated by JupyterLab itself. */
function isExempt(node: ts.Node, file: string): boolean {
  if (ts.isImportDeclaration(node)) {
    return true;
  }
  const named = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node);
  const name = named && ts.isIdentifier(node.name) ? node.name.text : '';
  // descriptions of plugins are part of their static definition
  return name === 'description' || (EXEMPT[file] ?? []).includes(name);
}

function texts(file: string): { translated: string[]; prose: string[] } {
  const source = ts.createSourceFile(file, readFileSync(join(SOURCES, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const [translated, prose]: [string[], string[]] = [[], []];
  const visit = (node: ts.Node): void => {
    if (isExempt(node, file)) {
      return;
    }
    const text = textOf(node);
    if (text !== null && isTranslated(node)) {
      translated.push(text);
    } else if (text !== null && isProse(text) && !(EXEMPT[file] ?? []).includes(text)) {
      prose.push(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { translated, prose };
}

const FILES = readdirSync(SOURCES).filter(file => file.endsWith('.ts'));

for (const file of FILES) {
  test(`no untranslated text in ${file}`, () => {
    assert.deepEqual(texts(file).prose, []);
  });
}

test('translated texts are found, and are complete sentences or labels', () => {
  const all = FILES.flatMap(file => texts(file).translated);
  assert.ok(all.length > 50, `${all.length}`);
  for (const text of all) {
    assert.doesNotMatch(text, /\$\{|^\s|\s$/, 'a complete text, with placeholders');
  }
});

test('prose is distinguished from code', () => {
  for (const text of ['Refresh', 'Open beside', 'The kernel is busy.', 'No column of obs could hold conditions.']) {
    assert.equal(isProse(text), true, text);
  }
  for (const text of [
    'diffnb-Button diffnb-mod-main',
    'import diffnb as dn',
    'data-focus',
    'panels.disc',
    'h3',
    'en-US'
  ]) {
    assert.equal(isProse(text), false, text);
  }
});
