import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainAddress } from './address.ts';

const cases: [string | undefined, string | null][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  [undefined, null],
  ['', null],
  ['/run/socket', null],
];
for (const [text, expected] of cases) {
  it(`normalizes the address ${text} to ${expected}`, () => assert.equal(plainAddress(text), expected));
}
