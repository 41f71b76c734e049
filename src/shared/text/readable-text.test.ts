import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReadable } from './readable-text.ts';

const readable = [
  '',
  'Ada Example',
  'Zoë Ångström-Đặng',
  '山田 太郎',
  '한국어',
  'שרה כהן',
  'محمد علی',
  'علی\u200Cرضا',
  'क्\u200Dष',
  'Thanks ❤️ 👨‍👩‍👧 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇺🇸',
  'O’Neill & Søn, 3/4 €',
];

const unreadable: Readonly<Record<string, string>> = {
  'a null character': 'A\0da',
  'a tab': 'Ada\tExample',
  'a line break': 'Ada\nExample',
  'a delete character': 'Ada\u007F',
  'a control character of Latin-1': 'Ada\u0085',
  'a right-to-left override': 'Ada \u202Eelpmaxe',
  'a left-to-right embedding': '\u202AAda',
  'a right-to-left isolate': '\u2067Ada\u2069',
  'a right-to-left mark': 'Ada\u200F',
  'an Arabic letter mark': 'Ada\u061C',
  'a zero-width space': 'A\u200Bda',
  'a zero-width joiner between Latin letters': 'A\u200Dda',
  'a zero-width non-joiner between Latin letters': 'A\u200Cda',
  'a zero-width joiner beside an emoji': '🙂\u200D',
  'a byte order mark': 'A\uFEFFda',
  'a word joiner': 'A\u2060da',
  'a soft hyphen': 'A\u00ADda',
  'a combining grapheme joiner': 'A\u034Fda',
  'a Hangul filler': '\u3164',
  'a blank Braille cell': '\u2800',
  'a variation selector behind a letter': 'A\uFE0Fda',
  'a tag character': 'Ada\u{E0041}',
  'a line separator': 'Ada\u2028Example',
  'a lone surrogate': 'Ada\uD800',
  'a private character': 'Ada\uE000',
  'a noncharacter': 'Ada\uFFFF',
};

for (const text of readable) {
  test(`accepts ${JSON.stringify(text)} as readable text`, () => {
    assert.equal(isReadable(text), true);
  });
}

for (const [what, text] of Object.entries(unreadable)) {
  test(`refuses ${what} in readable text`, () => {
    assert.equal(isReadable(text), false);
  });
}
