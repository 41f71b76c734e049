import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHostName } from './host-name.ts';

test('a host name of an institution is a DNS name of two labels or more, in lower case and ASCII', () => {
  assert.equal(readHostName('bank.example'), 'bank.example');
  assert.equal(readHostName('Online.BANK.example'), 'online.bank.example');
  assert.equal(readHostName('bücher.example'), 'xn--bcher-kva.example');
  assert.equal(readHostName(`${'a'.repeat(63)}.example`), `${'a'.repeat(63)}.example`);
});

test('an address, a single label, a URL and a malformed name are no host name of an institution', () => {
  const refused = [
    '',
    'localhost',
    '127.0.0.1',
    '0x7f.1',
    '[::1]',
    'bank.example.',
    'bank.example:443',
    'a_b.example',
  ];
  const more = [
    'https://bank.example',
    'user@bank.example',
    '-a.example',
    'a-.example',
    'a..example',
    '*.example',
  ];
  const long = [
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(125)}example`,
    'bank.example/x',
    'bank example.org',
  ];
  for (const text of [...refused, ...more, ...long]) assert.equal(readHostName(text), undefined, text);
});
