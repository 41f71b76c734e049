import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGuessable } from './password-strength.ts';

const ownWords = [
  'Lakeside Credit Union',
  'lakeside',
  'Ada',
  'Quillfeather',
  'ada.q@mail.example',
  '100042',
  'ada.quill',
];

const guessable: Readonly<Record<string, string>> = {
  'one character repeated': '111111111111111',
  'a sequence of repeated digits': '111111222222333',
  'a common password, a year and a run of marks': 'Welcome2026!!!!!',
  'fifteen spaces': ' '.repeat(15),
  'a common password twice': 'passwordpassword',
  'a common password twice, with spaces': 'password password',
  'a word three times in another script': 'пароль пароль пароль',
  'a sequence': 'abcdefghijklmnop',
  'a row of keys': 'qwertyuiopasdfgh',
  'a pattern of keys': '1qaz2wsx3edc4rfv',
  'a common password and digits': 'letmeinletmein123',
  'a common password in other characters': 'P4$$w0rdP4$$w0rd',
  'the institution’s name': 'Lakeside Credit Union',
  'the institution’s name and a digit': 'LAKESIDE-credit-union-1',
  'the member’s e-mail address': 'Ada.Q@mail.example',
  'the member’s name and number': 'ada quillfeather 100042',
  'a common password with zero-width spaces': [...'password'].join('\u{200b}'),
  'a well-known phrase': 'thequickbrownfox',
  'a well-known phrase with capitals, spaces and a year': 'The Quick Brown Fox 2026!',
  'days of the week': 'mondaytuesdaywednesday',
  'numbers in words': 'one-two-three-four-five',
  'the product’s name twice': 'sharedraftsharedraft',
  'the product’s name and a year': 'Sharedraft-2026-Sharedraft',
  'a season twice with a year between': 'Summer2026Summer',
  'a season and a year, twice': 'summer2026-summer2026',
  'the longest of one character': 'x'.repeat(128),
};

for (const [kind, password] of Object.entries(guessable)) {
  test(`rejects a guessable password: ${kind}`, async () => {
    assert.equal(await isGuessable(password, ownWords), true);
  });
}

for (const password of [
  'seven lanterns by the lake',
  'a feather falls on ink',
  'lakeside river stone lamp',
  'kX7#pQ2!vR9$mT4@',
  'fünf grüne Laternen',
  'quick foxes read brown books',
  'one lantern, two rivers, three doors',
  'the lake behind the lake house',
]) {
  test(`accepts the password "${password}"`, async () =>
    assert.equal(await isGuessable(password, ownWords), false));
}

test('estimates simultaneous passwords independently', async () => {
  const asked = Array.from({ length: 8 }, (_none, n) =>
    n % 2 === 0 ? 'passwordpassword' : 'river stone lamp',
  );
  const found = await Promise.all(asked.map((password) => isGuessable(password, [])));
  assert.deepEqual(
    found,
    asked.map((_password, n) => n % 2 === 0),
  );
});
