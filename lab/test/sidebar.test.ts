import './browser.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { DataObject, Listing } from '../src/listing.js';
import { Sidebar, type SidebarActions } from '../src/sidebar.js';
import { NO_NOTEBOOK, type Situation, view } from '../src/state.js';
import { HOSTILE } from './samples.js';
import { ENGLISH, MARKED, untranslated } from './translations.js';

const adata: DataObject = {
  name: 'adata',
  identifier: true,
  nObs: 120,
  nVars: 40,
  view: true,
  backed: true,
  columns: [{ name: 'condition', levels: 2, exact: true, samples: ['donor'] }],
  sampleColumns: ['donor', 'plate'],
  covariates: ['age']
};
const bare: DataObject = { ...adata, name: 'bare', columns: [], sampleColumns: [], covariates: [] };
const listing: Listing = {
  objects: [adata, bare, { name: 'closed', error: 'OSError' }],
  more: 2,
  alias: 'dn',
  installed: false
};
const idle: Situation = { ...NO_NOTEBOOK, notebook: true, status: 'idle', language: 'python', listing };

/** A sidebar that shows a situation, and what its actions were called with. */
function shown(situation: Situation, trans: TranslationBundle = ENGLISH) {
  const calls: string[] = [];
  const actions: SidebarActions = {
    refresh: () => calls.push('refresh'),
    newAnalysis: () => calls.push('new'),
    insert: code => calls.push(`insert ${code}`),
    insertBeside: code => calls.push(`beside ${code}`)
  };
  const sidebar = new Sidebar(actions, trans);
  sidebar.draw(view(situation, trans));
  document.body.replaceChildren(sidebar.node);
  return { sidebar, node: sidebar.node, calls };
}

/** Everything that a user reads or hears: texts, and attributes that are read out or shown. */
function textsOf(node: Element): string[] {
  const attributes = ['aria-label', 'title', 'label', 'placeholder', 'alt'].flatMap(
    name => node.getAttribute(name) ?? []
  );
  const own = [...node.childNodes].filter(child => child.nodeType === 3).map(child => child.textContent ?? '');
  return [...attributes, ...own, ...[...node.children].flatMap(textsOf)].filter(text => text.trim() !== '');
}

/** What a user chose or wrote, and the name of this package, are the same in every language. */
const DATA = new Set(['diffnb', 'adata', 'bare', 'condition (2)', 'donor', 'plate', 'age']);

function isData(text: string): boolean {
  return DATA.has(text) || text.startsWith('dn.') || !/\p{L}{2,}/u.test(text);
}

const situations: [string, Situation][] = [
  ['no notebook', NO_NOTEBOOK],
  ['no kernel', { ...idle, status: null }],
  ['a dead kernel', { ...idle, status: 'dead' }],
  ['a kernel that starts', { ...idle, status: 'starting' }],
  ['another language', { ...idle, language: 'R' }],
  ['a busy kernel', { ...idle, slow: true }],
  ['a pending request', { ...idle, listing: null }],
  ['no objects', { ...idle, listing: { ...listing, objects: [] } }],
  ['objects', idle]
];

for (const [name, situation] of situations) {
  test(`every text of the sidebar is translated: ${name}`, () => {
    const texts = textsOf(shown(situation, MARKED).node);
    assert.ok(texts.some(text => text.includes('⟦')));
    assert.deepEqual(
      texts.filter(text => !isData(text) && !isData(untranslated(text))),
      []
    );
  });
}

test('the words of a translator appear, with the values filled in', () => {
  const german: Record<string, string> = {
    '%1: cannot be read (%2)': '%1 ist nicht lesbar (%2)',
    Refresh: 'Neu laden'
  };
  const trans: TranslationBundle = {
    ...ENGLISH,
    __: (text: string, ...values: unknown[]) => ENGLISH.__(german[text] ?? text, ...values)
  };
  const { node } = shown(idle, trans);
  assert.ok(textsOf(node).includes('closed ist nicht lesbar (OSError)'));
  assert.equal(node.querySelector('header button')?.textContent, 'Neu laden');
});

test('names that are markup are shown as text', () => {
  const objects = HOSTILE.map(name => ({ ...adata, name }));
  const { node } = shown({ ...idle, listing: { ...listing, objects } });
  assert.deepEqual(
    [...node.querySelectorAll('h3')].map(title => title.textContent),
    HOSTILE
  );
  assert.equal(node.querySelector('img'), null);
});

function choose(node: Element, part: string, value: string): void {
  const select = node.querySelector(`[data-focus='${part}:adata']`) as HTMLSelectElement;
  select.value = value;
  select.dispatchEvent(new window.Event('change'));
}

test('a card shows the code that its button inserts', () => {
  const { node, calls } = shown(idle);
  choose(node, 'call', 'tl.scorecard');
  const code = 'dn.tl.scorecard(adata, "condition", sample_key="donor")\ndn.get.scorecard(adata)';
  assert.equal(node.querySelector('pre')?.textContent, code);
  (node.querySelector("[data-focus='insert:adata']") as HTMLElement).click();
  assert.deepEqual(calls, [`insert ${code}`]);
});

test('only panels open beside the notebook', () => {
  const { node } = shown(idle);
  const beside = node.querySelector("[data-focus='beside:adata']") as HTMLElement;
  assert.equal(beside.hidden, false);
  choose(node, 'call', 'tl.disc');
  assert.equal(beside.hidden, true);
});

test('a choice and the focus are kept when the objects change', () => {
  const { sidebar, node } = shown(idle);
  choose(node, 'call', 'tl.disc');
  (node.querySelector("[data-focus='call:adata']") as HTMLElement).focus();
  sidebar.draw(view({ ...idle, listing: { ...listing, objects: [{ ...adata, nObs: 7 }] } }, ENGLISH));
  assert.match(node.querySelector('pre')?.textContent ?? '', /^dn\.tl\.disc\(adata/);
  assert.equal(document.activeElement?.getAttribute('data-focus'), 'call:adata');
});

test('nothing is replaced when the same objects are drawn again', () => {
  const { sidebar, node } = shown(idle);
  const before = node.querySelector('section');
  sidebar.draw(view({ ...idle, slow: true }, ENGLISH));
  assert.equal(node.querySelector('section'), before);
});

test('calls that need conditions are disabled where there are none', () => {
  const { node } = shown({ ...idle, listing: { ...listing, objects: [bare] } });
  const disabled = [...node.querySelectorAll('option')].filter(option => option.disabled).map(option => option.value);
  assert.deepEqual(disabled, ['panels.compare', 'tl.scorecard', 'tl.disc', 'tl.sparda']);
});

test('likely samples are selected, and a hint says what single observations would mean', () => {
  const { node, calls } = shown(idle);
  const insert = node.querySelector<HTMLButtonElement>('[data-part="insert"]');
  choose(node, 'call', 'tl.scorecard');
  insert?.click();
  assert.match(calls.at(-1) ?? '', /dn\.tl\.scorecard\(adata, "condition", sample_key="donor"\)/);
  const hint = node.querySelector<HTMLElement>('.diffnb-Card-hint');
  assert.equal(hint?.hidden, true);
  choose(node, 'samples', '');
  insert?.click();
  assert.match(calls.at(-1) ?? '', /dn\.tl\.scorecard\(adata, "condition"\)/);
  assert.match(hint?.textContent ?? '', /p-values are too small/);
});

test('covariates are folded away, and named once they are ticked', () => {
  const { node, calls } = shown(idle);
  choose(node, 'call', 'tl.scorecard');
  const box = node.querySelector<HTMLInputElement>('.diffnb-Card-covariate input');
  assert.ok(box);
  box.checked = true;
  box.dispatchEvent(new window.Event('change'));
  node.querySelector<HTMLButtonElement>('[data-part="insert"]')?.click();
  assert.match(calls.at(-1) ?? '', /covariates=\["age"\]/);
});
