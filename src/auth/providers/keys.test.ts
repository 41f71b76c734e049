import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { InvalidPublicKeyError } from '../keys/public-keys.ts';
import { importKeys, readCertificates, readJwks } from './keys.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ecJwk = ec.publicKey.export({ format: 'jwk' });
const ecPrivateJwk = ec.privateKey.export({ format: 'jwk' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
const bitcoin = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' });

const set = (...keys: object[]) => JSON.stringify({ keys });

describe('JWK Set of a provider', () => {
  test('binds each key to the algorithm that it names, or else to the first of its type', () => {
    const keys = readJwks(
      set(
        { ...ecJwk, kid: 'a' },
        { ...p384, kid: 'b' },
        { ...ed25519, kid: 'c' },
        { ...rsa, kid: 'd' },
        {
          ...rsa,
          kid: 'e',
          alg: 'PS512',
        },
      ),
    );
    assert.deepEqual(
      keys.map(({ kid, alg }) => [kid, alg]),
      [
        ['a', 'ES256'],
        ['b', 'ES384'],
        ['c', 'EdDSA'],
        ['d', 'RS256'],
        ['e', 'PS512'],
      ],
    );
    assert.deepEqual(
      importKeys(keys).map(({ publicKey }) => publicKey.type),
      Array(5).fill('public'),
    );
  });

  test('accepts a single JWK, and keeps only its public members', () => {
    const [key] = readJwks(JSON.stringify({ ...ecJwk, use: 'sig', x5c: ['abc'], extra: { nested: 1 } }));
    assert.deepEqual(key, { ...ecJwk, alg: 'ES256' });
  });

  test('ignores keys for encryption', () => {
    assert.equal(readJwks(set({ ...rsa, use: 'enc', kid: 'a' }, { ...rsa, kid: 'b' })).length, 1);
  });

  const refused: Record<string, string> = {
    'no JSON': 'nonsense',
    'a string': '"text"',
    'keys that are no list': '{"keys":{}}',
    'a list of no keys': set(),
    'keys for encryption alone': set({ ...rsa, use: 'enc' }),
    'a private key': set(ecPrivateJwk),
    'a secret, which anybody who can verify could sign with': set({ kty: 'oct', k: 'c2VjcmV0' }),
    'a type that nothing here verifies': set(bitcoin),
    'a weak RSA key': set(weakRsa),
    'an algorithm of another type': set({ ...ecJwk, alg: 'RS256' }),
    'an algorithm of another curve': set({ ...ecJwk, alg: 'ES384' }),
    'an HMAC algorithm on a public key': set({ ...rsa, alg: 'HS256' }),
    'no algorithm': set({ ...rsa, alg: 'none' }),
    'two keys of one kid': set({ ...ecJwk, kid: 'a' }, { ...rsa, kid: 'a' }),
    'two keys without a kid': set(ecJwk, rsa),
    'a point that is not on the curve': set({ ...ecJwk, x: ecJwk.y }),
    'a member missing': set({ kty: 'RSA', n: rsa.n }),
    'a type named as Object’s own things are': set({ kty: 'constructor' }),
    'more than twenty': set(...Array.from({ length: 21 }, (_, n) => ({ ...ecJwk, kid: String(n) }))),
  };
  for (const [name, text] of Object.entries(refused)) {
    test(`rejects a JWK Set: ${name}`, () => {
      assert.throws(() => readJwks(text), InvalidPublicKeyError);
    });
  }
});

describe('certificates of a provider', () => {
  const refused: Record<string, string> = {
    nothing: '',
    'a private key beside it': ec.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'text in the form of a certificate': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
  };
  for (const [name, text] of Object.entries(refused)) {
    test(`rejects a certificate: ${name}`, () => {
      assert.throws(() => readCertificates(text), InvalidPublicKeyError);
    });
  }
});
