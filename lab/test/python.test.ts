import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { literal, variable } from '../src/python.js';
import { HOSTILE } from './samples.js';

test('a literal is one line without unescaped quotes or invisible characters', () => {
  for (const name of HOSTILE) {
    const text = literal(name);
    assert.match(text, /^"(?:[^"\\]|\\.)*"$/u);
    assert.doesNotMatch(text, /[\p{C}\p{Zl}\p{Zp}]/u);
  }
});

test('Python reads back every character of a literal', t => {
  const python = process.env.PYTHON ?? 'python3';
  if (spawnSync(python, ['--version']).error) {
    t.skip(`no ${python}`);
    return;
  }
  const read = 'import ast, json, sys; print(json.dumps([ast.literal_eval(t) for t in json.load(sys.stdin)]))';
  const input = JSON.stringify(HOSTILE.map(literal));
  const done = spawnSync(python, ['-I', '-c', read], { encoding: 'utf8', input });
  assert.deepEqual(JSON.parse(done.stdout), HOSTILE, done.stderr);
});

test('a name that is no identifier is looked up as a string', () => {
  assert.equal(variable('adata', true), 'adata');
  assert.equal(variable('a"; x', false), 'globals()["a\\"; x"]');
});
