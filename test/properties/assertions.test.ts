import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidAssertionError } from '../../src/auth/providers/invalid-assertion-error.ts';
import { verifyJwt } from '../../src/auth/providers/jwt.ts';
import type { ActiveProvider } from '../../src/auth/providers/providers.ts';
import { verifySaml } from '../../src/auth/providers/saml/saml.ts';
import { parseXml } from '../../src/auth/providers/saml/xml.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { signJwt, validClaims } from '../support/jwt.ts';
import { anAssertion, persistent, samlIssuer, signAssertion } from '../support/saml.ts';

/* A modified assertion is either read as signed or rejected. */

const now = new Date('2026-03-02T12:00:00Z');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider: ActiveProvider = {
  institutionId: 1 as InstitutionId,
  providerId: 'p',
  kind: 'saml',
  issuer: samlIssuer,
  audience: 'http://sharedraft.test',
  keys: [],
  subjectFrom: persistent,
  userIdType: 'USER_ID',
  scopes: ['account:read'],
  resourceTokens: false,
  tokenType: 'at+jwt',
  active: true,
  tokensEndedAt: new Date(0),
  generation: 1,
  verificationKeys: [{ kid: undefined, alg: 'RS256', publicKey: rsa.publicKey }],
};

const bits = [
  '<',
  '>',
  '/',
  '"',
  '=',
  '&',
  '#',
  ';',
  ':',
  ' ',
  '\n',
  '<!---->',
  '<x/>',
  'ID',
  'xmlns',
  'saml:',
  'ds:',
  '.',
  'A',
];
const change = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 40 }),
  from: fc.nat(),
  what: fc.oneof(
    fc.constant('move' as const),
    fc.array(fc.constantFrom(...bits), { maxLength: 3 }).map((some) => some.join('')),
  ),
});

/** Removes a piece and inserts something, or another piece of the same text, in its place. */
function apply(
  text: string,
  { at, length, from, what }: { at: number; length: number; from: number; what: string },
): string {
  const start = at % text.length;
  const other = from % text.length;
  const piece = what === 'move' ? text.slice(other, other + 60) : what;
  return text.slice(0, start) + piece + text.slice(start + length);
}

const xml = signAssertion(anAssertion(now, { id: '_a' }), rsa.privateKey);
const endpoint = 'http://sharedraft.test/auth/v2/token';

test('a random SAML assertion is accepted or rejected, never an internal error', () => {
  const original = verifySaml(provider, xml, { tokenEndpoint: endpoint, now });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const changed = changes.reduce(apply, xml);
      try {
        assert.deepEqual(verifySaml(provider, changed, { tokenEndpoint: endpoint, now }), original);
      } catch (error) {
        if (!(error instanceof InvalidAssertionError)) throw error;
      }
    }),
    { numRuns: 1_500 },
  );
});

test('a random JWT is accepted or rejected, never an internal error', async () => {
  const jwt = signJwt({ alg: 'RS256' }, validClaims(now, samlIssuer, 'u-1'), rsa.privateKey);
  const rules = { types: [undefined, 'jwt'], requiredClaims: [], now, furthestExpirySeconds: 600 };
  const original = await verifyJwt(provider, jwt, rules);
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      const changed = changes.reduce(apply, jwt);
      try {
        assert.deepEqual(await verifyJwt(provider, changed, rules), original);
      } catch (error) {
        if (!(error instanceof InvalidAssertionError)) throw error;
      }
    }),
    { numRuns: 1_500 },
  );
});

test('any XML is read or rejected, never an internal error', () => {
  const text = fc.array(
    fc.constantFrom(...bits, '<a', '</a>', '<a>', '&amp;', '&#1;', '\u0000', '\ud800', 'é'),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(text, (pieces) => {
      try {
        assert.equal(parseXml(pieces.join('')).nodeType, 1);
      } catch (error) {
        if (!(error instanceof InvalidAssertionError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});
