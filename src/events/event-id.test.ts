import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventIdOf, placeOf } from './event-id.ts';

test('writes an event id from the position of its event, up to the largest numbers', () => {
  for (const id of ['0-1-1', '3-731845-90552', '2147483647-18446744073709551615-9223372036854775807']) {
    const place = placeOf(id);
    assert.ok(place, id);
    assert.equal(eventIdOf(place), id);
  }
});

test('rejects an event id of another form or with a number that is too large', () => {
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
