import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import { assertInContract } from './contract.ts';
import { clientOf } from './demo.ts';
import type { TestService } from './service.ts';

/** The answer to a line. */
export interface LineAnswer {
  readonly line?: number;
  readonly id?: string;
  readonly result?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly summary?: Readonly<Record<string, number>>;
}

/** The connector of an institution's core, over HTTP. */
export interface Connector {
  readonly token: string;
  /** Delivers the lines in one request; text and bytes are sent as they are. */
  deliver(
    lines: readonly object[] | string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<LineAnswer[]>;
  /** The same to the door for records; `query` is that of the URL. */
  deliverRecords(
    lines: readonly object[] | string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
    query?: string,
  ): Promise<LineAnswer[]>;
}

const recordsPath = '/digitalbanking/core/v1/records';

export const transactionsPath = '/digitalbanking/core/v1/transactions';

export async function connectorOf(
  service: Pick<TestService, 'address' | 'service'>,
  code = 'lakeside',
): Promise<Connector> {
  const { auth, database } = service.service.context;
  const institution = await database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined) throw new Error(`there is no institution ${code}`);
  const secret = 'the-secret-of-a-core-in-a-test';
  const clientId = `core-of-${code}`;
  await createClient(
    auth,
    {
      institutionId: institution.institutionId,
      clientId,
      name: 'Core',
      secret,
      scopes: ['core:read', 'core:write'],
      grants: ['client_credentials'],
    },
    ownOrigin(),
  );
  const { token } = await clientOf(service, [clientId, secret]);
  const post = async (
    path: string,
    lines: readonly object[] | string | Uint8Array,
    {
      headers = {},
      query = '',
    }: { headers?: Readonly<Record<string, string>> | undefined; query?: string | undefined },
  ) => {
    const body = typeof lines === 'string' || lines instanceof Uint8Array ? lines : asNdjson(lines);
    const response = await fetch(`${service.address}${path}${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', ...headers },
      body: body as Uint8Array<ArrayBuffer>,
    });
    const text = await response.text();
    assertInContract({ method: 'POST', path, status: response.status, headers: response.headers, text });
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return readNdjson(text);
  };
  return {
    token,
    deliver: (lines, headers) => post(transactionsPath, lines, { headers }),
    deliverRecords: (lines, headers, query) => post(recordsPath, lines, { headers, query }),
  };
}

export function asNdjson(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export function readNdjson(text: string): LineAnswer[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LineAnswer);
}

/** A card purchase at a made-up bakery; change any part. */
export function purchase(id: string, change: object = {}): object {
  return {
    id,
    accountId: 'a-1001-checking',
    amount: -12.34,
    currencyCode: 'USD',
    kind: 'CARD',
    postedAt: '2026-03-02T14:05:00-05:00',
    description: 'Corner Bakery',
    ...change,
  };
}
