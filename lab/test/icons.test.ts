/** Every card of the launcher has a drawing of its own. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TUTORIALS } from '../src/generated/tutorials.js';
import { MAIN, NEW, OF_TUTORIAL } from '../src/icons.js';

test('every tutorial has an icon, and no two are alike', () => {
  assert.deepEqual(
    Object.keys(OF_TUTORIAL),
    TUTORIALS.map(tutorial => tutorial.file)
  );
  const drawings = [MAIN, NEW, ...Object.values(OF_TUTORIAL)];
  assert.equal(new Set(drawings).size, drawings.length);
});

test('icons take their colour from the theme', () => {
  for (const drawing of [MAIN, NEW, ...Object.values(OF_TUTORIAL)]) {
    const colours = [...drawing.matchAll(/(?:fill|stroke)="([^"]+)"/g)].map(found => found[1]);
    assert.deepEqual(new Set(colours), new Set(['#616161']));
    assert.equal([...drawing.matchAll(/class="jp-icon3 jp-icon-selectable"/g)].length, 2);
  }
});
