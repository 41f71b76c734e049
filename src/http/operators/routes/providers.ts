import * as Type from 'typebox/type';
import {
  addProvider,
  changeProvider,
  InvalidPublicKeyError,
  listProviders,
  memberScopes,
  type Provider,
  type ProviderKind,
  ProviderRejectedError,
  type PublicJwk,
  providerKinds,
  readCertificates,
  readJwks,
  removeProvider,
} from '../../../auth/index.ts';
import type { InstitutionId } from '../../../institutions/index.ts';
import { userIdTypes } from '../../../members/index.ts';
import type { OperatorDeps } from '../../../operators/index.ts';
import { defined } from '../../../shared/defined.ts';
import { Problem } from '../../../shared/problem.ts';
import { publicId } from '../../../shared/public-id.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { body, Changed, flag, oneOf, optional, reason, shape, text, texts, withReason } from '../shapes.ts';

const visible = (maxLength: number) => Type.String({ maxLength, pattern: '^[!-~]+$' });
const scopeNames = memberScopes.filter((scope) => scope !== 'offline_access');

/** The settings that may change. Kind, issuer and audience never do. */
const settings = {
  keys: Type.String({
    maxLength: 32_768,
    description: 'Its public keys: a JWK Set, or with the kind saml certificates in PEM.',
  }),
  subjectFrom: Type.String({
    pattern: '^[!-~]{1,255}$',
    description: 'The claim of its JWTs, or the format of the NameID as a URI, that names the member.',
  }),
  userIdType: oneOf(userIdTypes),
  scopes: Type.Array(oneOf(scopeNames), { minItems: 1, maxItems: scopeNames.length, uniqueItems: true }),
  resourceTokens: Type.Boolean({ description: 'Accept its own access tokens (RFC 9068). Kind jwt only.' }),
  tokenType: Type.String({ pattern: '^[A-Za-z0-9.+/-]{1,64}$', description: 'The typ of those; at+jwt.' }),
};

export const providerOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'listProviders',
    method: 'GET',
    path: '/providers',
    right: 'institution:read',
    summary: 'The identity providers whose assertions of members are accepted.',
    response: Type.Array(
      shape({
        ...{ providerId: text, kind: text, issuer: text, audience: text, active: flag },
        ...{ subjectFrom: text, userIdType: text, scopes: texts, resourceTokens: flag, tokenType: text },
      }),
    ),
    async handle({ auth }, { institutionId }) {
      const providers = await listProviders(auth, institutionId);
      return providers.map(({ institutionId: _, ...provider }) => provider);
    },
  }),
  operatorOperation({
    operationId: 'registerProvider',
    method: 'POST',
    path: '/providers',
    right: 'providers:manage',
    summary: 'Register an identity provider. It may assert each member of the institution.',
    body: body({
      reason,
      providerId: Type.String({ pattern: publicId.source }),
      kind: oneOf(providerKinds),
      issuer: visible(1_024),
      audience: optional(visible(1_024)),
      ...settings,
      subjectFrom: optional(settings.subjectFrom),
      resourceTokens: optional(settings.resourceTokens),
      tokenType: optional(settings.tokenType),
    }),
    response: Changed,
    async handle({ auth }, { institutionId, body: { reason: _, ...given }, origin }) {
      const { kind, audience = auth.issuer, resourceTokens = false, tokenType = 'at+jwt' } = given;
      refuseTokens(kind, resourceTokens);
      const { subjectFrom = kind === 'jwt' ? 'sub' : persistentNameId } = given;
      const provider = {
        ...{ ...given, audience, resourceTokens, tokenType, subjectFrom, active: true },
        keys: keysIn(kind, given.keys),
      };
      await refusing(addProvider(auth, institutionId, { provider, origin }));
      return { changed: true };
    },
  }),
  operatorOperation({
    operationId: 'switchProvider',
    method: 'PATCH',
    path: '/providers/{providerId}',
    right: 'institution:change',
    summary: 'Switch an identity provider off or on. Identities that it asserted end.',
    body: body({ reason, active: flag }),
    response: Changed,
    async handle(deps, { institutionId, params: { providerId }, body: { active }, origin }) {
      const provider = await providerOf(deps, institutionId, providerId);
      if (provider === undefined) return undefined;
      if (provider.active === active) return { changed: false };
      await changeProvider(deps.auth, institutionId, { providerId, settings: { active }, origin });
      return { changed: true };
    },
  }),
  operatorOperation({
    operationId: 'changeProvider',
    method: 'POST',
    path: '/providers/{providerId}/settings',
    right: 'providers:manage',
    summary:
      'Change the keys, the scopes or the naming of an identity provider. Identities that it asserted end.',
    body: body({
      reason,
      keys: optional(settings.keys),
      subjectFrom: optional(settings.subjectFrom),
      userIdType: optional(settings.userIdType),
      scopes: optional(settings.scopes),
      resourceTokens: optional(settings.resourceTokens),
      tokenType: optional(settings.tokenType),
    }),
    response: Changed,
    async handle(deps, { institutionId, params: { providerId }, body: { reason: _, ...given }, origin }) {
      const provider = await providerOf(deps, institutionId, providerId);
      if (provider === undefined) return undefined;
      refuseTokens(provider.kind, given.resourceTokens);
      const keys = given.keys === undefined ? undefined : keysIn(provider.kind, given.keys);
      const change = defined({ ...given, keys });
      if (Object.keys(change).length === 0) return { changed: false };
      await refusing(changeProvider(deps.auth, institutionId, { providerId, settings: change, origin }));
      return { changed: true };
    },
  }),
  operatorOperation({
    operationId: 'removeProvider',
    method: 'POST',
    path: '/providers/{providerId}/remove',
    right: 'providers:manage',
    summary: 'Remove an identity provider. Identities that it asserted end.',
    body: withReason,
    response: Changed,
    async handle(deps, { institutionId, params: { providerId }, origin }) {
      if ((await providerOf(deps, institutionId, providerId)) === undefined) return undefined;
      await refusing(removeProvider(deps.auth, institutionId, { providerId, origin }));
      return { changed: true };
    },
  }),
];

const persistentNameId = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

async function providerOf(
  { auth }: OperatorDeps,
  institutionId: InstitutionId,
  providerId: string,
): Promise<Provider | undefined> {
  return (await listProviders(auth, institutionId)).find((one) => one.providerId === providerId);
}

/** Problem `invalid_request` for keys that are none, or that are private. */
function keysIn(kind: ProviderKind, given: string): PublicJwk[] {
  try {
    return kind === 'jwt' ? readJwks(given) : readCertificates(given);
  } catch (error) {
    if (error instanceof InvalidPublicKeyError) throw invalid('keys', error.message);
    throw error;
  }
}

function refuseTokens(kind: ProviderKind, resourceTokens: boolean | undefined): void {
  if (kind === 'saml' && resourceTokens)
    throw invalid('resourceTokens', 'A provider of the kind saml has no access tokens.');
}

/** Problem `act_refused` with the sentence of the registry. */
async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error) => {
    throw error instanceof ProviderRejectedError ? new Problem('act_refused', error.message) : error;
  });
}

function invalid(member: string, detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ pointer: `/${member}`, detail }] });
}
