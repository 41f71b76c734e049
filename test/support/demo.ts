import { Client, type Reply } from './client.ts';
import type { TestService } from './service.ts';

/** A caller of the demo institutions over HTTP, with a token. */
export interface DemoCaller {
  readonly token: string;
  get(path: string): Promise<Answer>;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
}

export type Answer = Reply;

export const paths = {
  token: '/auth/v2/token',
  revoke: '/auth/v2/revoke',
  introspect: '/auth/v2/introspect',
  transfers: '/digitalbanking/db-transfers/v1/transfers',
  accounts: '/digitalbanking/db-accounts/v1/accounts',
  register: '/digitalbanking/v1/customers/register',
  activate: '/digitalbanking/v1/customers/activate',
  password: '/digitalbanking/v1/customers/password',
  customer: (customerId: string) => `/digitalbanking/ux-users/v1/customers/${customerId}`,
} as const;

export function send(
  address: string,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: string | object; readonly headers?: Record<string, string> } = {},
): Promise<Answer> {
  const content = typeof body === 'string' ? { body } : body && { json: body };
  return new Client(address).request(method, path, { headers, ...content });
}

export async function memberOf(
  service: Pick<TestService, 'address'>,
  username: string,
  password: string,
  client: readonly [id: string, secret: string] = ['demo-app', 'demo-app-secret'],
): Promise<DemoCaller> {
  return caller(service, { grant_type: 'password', username, password }, client);
}

export async function clientOf(
  service: Pick<TestService, 'address'>,
  client: readonly [id: string, secret: string] = ['demo-app', 'demo-app-secret'],
): Promise<DemoCaller> {
  return caller(service, { grant_type: 'client_credentials' }, client);
}

async function caller(
  service: Pick<TestService, 'address'>,
  grant: object,
  [client_id, client_secret]: readonly [string, string],
): Promise<DemoCaller> {
  const { address } = service;
  const answer = await send(address, 'POST', paths.token, { body: { ...grant, client_id, client_secret } });
  if (answer.status !== 200) throw new Error(`no token: ${answer.text}`);
  const token: string = answer.body.access_token;
  const authorization = `Bearer ${token}`;
  return {
    token,
    get: (path) => send(address, 'GET', path, { headers: { authorization } }),
    post: (path, body, headers) =>
      send(address, 'POST', path, { body, headers: { authorization, ...headers } }),
    patch: (path, body, headers) =>
      send(address, 'PATCH', path, { body, headers: { authorization, ...headers } }),
  };
}
