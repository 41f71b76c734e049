import { type AssertionFormat, acceptAssertion } from '../providers/assertion.ts';
import { decodeAssertion, peekSaml, verifySaml } from '../providers/saml/saml.ts';
import { tokenEndpointOf } from '../tokens/token-endpoint.ts';
import type { Grant } from './grant.ts';

const samlAssertion: AssertionFormat = {
  kind: 'saml',
  peek: (text) => peekSaml(decodeAssertion(text)),
  verify: async ({ issuer }, provider, text, now) =>
    verifySaml(provider, decodeAssertion(text), { tokenEndpoint: tokenEndpointOf(issuer), now }),
};

/** RFC 7522 section 2.1: a provider's SAML 2.0 assertion identifies the member. */
export const saml2Bearer: Grant = {
  grantType: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
  authorize: (deps, client, request) =>
    acceptAssertion(deps, client, { format: samlAssertion, text: request.require('assertion') }),
};
