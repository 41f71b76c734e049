import { addProvider, createClient, type Provider } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { type Answer, paths, send } from './demo.ts';
import type { TestService } from './service.ts';

export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const saml2Bearer = 'urn:ietf:params:oauth:grant-type:saml2-bearer';

export async function institutionOf(service: TestService, code: string): Promise<Institution> {
  const institution = await service.db.database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined) throw new Error(`there is no institution ${code}`);
  return institution;
}

/** A client that may bring assertions, beside the demo's own. */
export async function anAssertionClient(
  service: TestService,
  code: string,
  clientId: string,
  scopes: Provider['scopes'],
): Promise<readonly [id: string, secret: string]> {
  const { institutionId } = await institutionOf(service, code);
  const grants = [jwtBearer, saml2Bearer];
  const created = await createClient(
    service.service.context.auth,
    {
      institutionId,
      clientId,
      name: clientId,
      scopes,
      grants,
    },
    ownOrigin(),
  );
  if (created?.secret === undefined) throw new Error(`the client ${clientId} is there already`);
  return [clientId, created.secret];
}

export async function aProvider(
  service: TestService,
  code: string,
  provider: Pick<Provider, 'providerId' | 'kind' | 'issuer' | 'keys'> & Partial<Provider>,
): Promise<void> {
  const { institutionId } = await institutionOf(service, code);
  await addProvider(service.service.context.auth, institutionId, {
    provider: {
      audience: 'http://sharedraft.test',
      subjectFrom: 'sub',
      userIdType: 'USER_ID',
      scopes: ['account:read', 'transfer:read', 'transfer:write'],
      resourceTokens: false,
      tokenType: 'at+jwt',
      active: true,
      ...provider,
    },
    origin: ownOrigin(),
  });
}

/** Asks for a token with an assertion. */
export function exchangeAssertion(
  service: TestService,
  [client_id, client_secret]: readonly [id: string, secret: string],
  grant_type: string,
  assertion: string,
  more: object = {},
): Promise<Answer> {
  const body = { grant_type, client_id, client_secret, assertion, ...more };
  return send(service.address, 'POST', paths.token, { body });
}
