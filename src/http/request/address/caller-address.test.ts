import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerAddressReader } from './caller-address.ts';

const behindProxies = callerAddressReader(['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48']);

test('takes the right-most hop that is not one of our proxies as the caller', () => {
  const cases: [from: string, header: string | undefined, caller: string | null][] = [
    ['203.0.113.9', undefined, '203.0.113.9'],
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.2.3.4, 198.51.100.1, 192.0.2.7 ,10.200.0.1', '198.51.100.1'],
    ['192.0.2.8', '198.51.100.1', '192.0.2.8'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['2001:db8:1::5', '2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:2::5', '198.51.100.1', '2001:db8:2::5'],
  ];
  for (const [from, header, caller] of cases) {
    assert.equal(behindProxies(from, header), caller, `${from} for ${header}`);
  }
});

test('stops at a hop that wrote something other than an address', () => {
  for (const header of [
    'unknown',
    '',
    ' ',
    'x, unknown',
    '1.2.3.4.5',
    '-1',
    "'; drop table",
    '999.1.1.1',
    ',',
  ]) {
    assert.equal(behindProxies('10.0.0.1', header), '10.0.0.1', header);
    assert.equal(behindProxies('10.0.0.1', `${header}, 10.9.9.9`), '10.9.9.9', header);
  }
});

test('writes an address in one form: without mapping, zone or port, in shortest form', () => {
  const cases: [string, string | null][] = [
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['', null],
  ];
  for (const [from, caller] of cases) assert.equal(behindProxies(from, undefined), caller, from);
  assert.equal(behindProxies(undefined, '198.51.100.1'), null);
  assert.equal(behindProxies('::ffff:10.0.0.1', '198.51.100.1'), '198.51.100.1');
  assert.equal(behindProxies('10.0.0.1', '198.51.100.1:4711'), '198.51.100.1');
  assert.equal(behindProxies('10.0.0.1', '[2001:db8::1]:443'), '2001:db8::1');
  assert.equal(behindProxies('10.0.0.1', '[2001:db8::1]'), '2001:db8::1');
});

test('ignores the forwarding header when no proxies are configured', () => {
  const direct = callerAddressReader([]);
  assert.equal(direct('127.0.0.1', '198.51.100.1'), '127.0.0.1');
});
