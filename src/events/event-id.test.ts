import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventIdOf, placeOf } from './event-id.ts';

test('an id says where its event stands, up to the largest numbers that there are', () => {
  for (const id of ['0-1-1', '3-731845-90552', '2147483647-18446744073709551615-9223372036854775807']) {
    const place = placeOf(id);
    assert.ok(place, id);
    assert.equal(eventIdOf(place), id);
  }
});

test('what is not written as an id, or holds a number too large, is none', () => {
  for (const text of [
    '',
    '1-2',
    '1-2-3-4',
    '01-2-3',
    '1-02-3',
    '-1-2-3',
    '+1-2-3',
    '1-2-3 ',
    '1-2-3\n',
    '1-2-0x3',
    '1-2-3.0',
    '1-2-٣',
    '2147483648-1-1',
    '0-18446744073709551616-1',
    '0-1-9223372036854775808',
  ]) {
    assert.equal(placeOf(text), undefined, JSON.stringify(text));
  }
});
