import {
  type Assertion,
  type AssertionFormat,
  acceptAssertion,
  furthestExpirySeconds,
} from '../providers/assertion.ts';
import { InvalidAssertionError } from '../providers/invalid-assertion-error.ts';
import { authTimeOf, methodsOf, peekJwt, textClaim, verifyJwt } from '../providers/jwt.ts';
import type { Grant } from './grant.ts';

/** Excludes the provider's access tokens and other JWTs that are signed with the same key (RFC 8725 section 3.11). */
const types = [undefined, 'jwt', 'authorization-grant+jwt'];

const jwtAssertion: AssertionFormat = {
  kind: 'jwt',
  peek: (jwt) => {
    const peeked = peekJwt(jwt);
    // An assertion for several audiences could be carried from one to another.
    if (peeked.audiences.length === 1) return peeked;
    throw new InvalidAssertionError('The claim aud must name one audience.');
  },
  verify: async (_deps, provider, jwt, now): Promise<Assertion> => {
    const requiredClaims = ['sub', 'jti', provider.subjectFrom];
    const rules = { types, requiredClaims, now, furthestExpirySeconds };
    const payload = await verifyJwt(provider, jwt, rules);
    textClaim(payload, 'sub');
    return {
      id: textClaim(payload, 'jti'),
      subject: textClaim(payload, provider.subjectFrom),
      expiresAtMillis: payload.exp * 1000,
      authTime: authTimeOf(payload, now),
      methods: methodsOf(payload),
    };
  },
};

/** RFC 7523 section 2.1: a provider's JWT identifies the member. */
export const jwtBearer: Grant = {
  grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  authorize: (deps, client, request) =>
    acceptAssertion(deps, client, { format: jwtAssertion, text: request.require('assertion') }),
};
