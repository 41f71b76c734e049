import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldUsername } from './usernames.ts';

test('compares usernames without the case of ASCII letters, and with every other difference', () => {
  assert.equal(foldUsername('Demo.MEMBER-1'), 'demo.member-1');
  for (const name of ['\u212Aim', 'd\u0130ana', 'd\u0131ana', '\uFF24emo', 'e\u0301']) {
    assert.equal(foldUsername(name), name);
  }
});
