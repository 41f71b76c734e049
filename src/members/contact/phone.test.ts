import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toE164 } from './phone.ts';

const accepted: Record<string, string> = {
  '+12025550123': '+12025550123',
  '+1 (202) 555-0123': '+12025550123',
  '(202) 555-0123': '+12025550123',
  '2025550123': '+12025550123',
  ' 202.555.0123 ': '+12025550123',
  '+44 20 7946 0018': '+442079460018',
  '011 44 20 7946 0018': '+442079460018',
};

for (const [text, number] of Object.entries(accepted)) {
  test(`keeps the phone number ${JSON.stringify(text)} as ${number}`, () => {
    assert.equal(toE164(text), number);
  });
}

const refused: Record<string, string> = {
  nothing: '',
  words: 'my phone',
  'too few digits': '555-0123',
  'too many digits': '+1202555012345',
  'an area code that does not exist': '+1 123 456 7890',
  'a national number of another country': '020 7946 0018',
  'an extension, which E.164 cannot hold': '+1 202 555 0123 ext. 5',
  'a number with words around it': 'call 202-555-0123 tonight',
  'two numbers': '202-555-0123 202-555-0124',
  'a character that the database cannot hold': '+12025550123\0',
  'more digits than E.164 has': `+49${'7'.repeat(15)}`,
};

for (const [what, text] of Object.entries(refused)) {
  test(`rejects a phone number: ${what}`, () => {
    assert.equal(toE164(text), undefined);
  });
}
