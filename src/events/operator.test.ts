import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namesOf, shareAPerson } from './operator.ts';

describe('two spellings of one name are one person', () => {
  const spellings: readonly (readonly [how: string, spelling: string])[] = [
    ['capitals', 'ANN lee'],
    ['spaces around and between', ' ann  lee\t'],
    ['a no-break space', 'ann\u00a0lee'],
    ['full-width letters', 'ａｎｎ lee'],
    ['a zero-width space', 'ann\u200b lee'],
    ['a right-to-left mark', '\u200fann lee'],
    ['a soft hyphen', 'an\u00adn lee'],
    ['a Hangul filler', 'ann\u3164 lee'],
    ['a tag character', 'ann\u{e0041} lee'],
    ['a variation selector', 'ann\ufe0f lee'],
  ];
  for (const [how, spelling] of spellings) {
    test(`shareAPerson ignores ${how}`, () => assert.ok(shareAPerson(['ann lee'], [spelling])));
  }

  test('shareAPerson treats ß as ss and the Kelvin sign as k', () => {
    assert.ok(shareAPerson(['STRASSE'], ['straße']));
    assert.ok(shareAPerson(['\u212aim'], ['kim']));
  });
});

test('shareAPerson distinguishes two different names', () => {
  assert.ok(!shareAPerson(['ann'], ['anne']));
  assert.ok(!shareAPerson([], ['ann']));
});

test('SUDO_USER can show that two system users are one person, and never makes one user two people', () => {
  const ann = { user: 'ann', host: 'teller-1' };
  const viaSudo = { user: 'root', host: 'teller-1', sudoUser: 'ann' };
  const madeUp = { ...ann, sudoUser: 'bob' };
  assert.ok(shareAPerson(namesOf(ann), namesOf(viaSudo)));
  assert.ok(shareAPerson(namesOf(ann), namesOf(madeUp)));
  assert.ok(!shareAPerson(namesOf(ann), namesOf({ user: 'bob', host: 'teller-1' })));
  assert.ok(shareAPerson(namesOf(ann), namesOf({ user: 'ann', host: 'teller-2' })));
});

test('a name typed with --as identifies the person in a demo', () => {
  const ann = { user: 'root', host: 'laptop', as: 'Ann' };
  assert.ok(!shareAPerson(namesOf(ann), namesOf({ ...ann, as: 'Bob' })));
  assert.ok(shareAPerson(namesOf(ann), namesOf({ ...ann, as: 'ANN ' })));
});
