import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Actor } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { transferIdFromKey } from './idempotency-key.ts';

function caller(institutionId: number, clientId: string, userId?: string): Actor {
  const one = { institutionId: institutionId as InstitutionId, clientId };
  return userId === undefined
    ? { kind: 'client', ...one }
    : { kind: 'member', ...one, userId, userKey: 1n, personKey: 1n };
}

describe('transfer id of an idempotency key', () => {
  it('derives different transfer ids for every institution, client, user and key, however their parts join', () => {
    const ids = [
      transferIdFromKey('key', caller(1, 'app')),
      transferIdFromKey('key', caller(2, 'app')),
      transferIdFromKey('key', caller(1, 'app', 'u')),
      transferIdFromKey('key', caller(1, 'ap', 'pu')),
      transferIdFromKey('key', caller(1, 'appu')),
      transferIdFromKey('ukey', caller(1, 'app')),
      transferIdFromKey('key', caller(1, 'app', 'v')),
      transferIdFromKey('3:key', caller(1, 'app')),
    ];
    assert.equal(new Set(ids).size, ids.length);
  });

  it('derives the same transfer id in every release, because callers repeat keys across releases', () => {
    assert.equal(
      transferIdFromKey('8e03978e-40d5-43dd-bc93-6894a57f9324', caller(1, 'quill-app', 'usr-1')),
      'key:ax5RTK9WphoxdSGrmdmwzii9m0b2rj2qa7vCIvXwweA',
    );
  });
});
