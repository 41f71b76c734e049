import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { loadConfig } from '../src/app/config.ts';
import { type AppContext, openAppContext } from '../src/app/context.ts';
import { createClient, type Scope } from '../src/auth/index.ts';
import { ownOrigin } from '../src/events/index.ts';
import { insertInstitution } from '../src/institutions/index.ts';
import { embeddedLogin, type InstitutionId, migrate, type SocketConnection } from '../src/storage/index.ts';
import { accountId, accountsPerMember, customerId, type People } from './job.ts';

/** Contents of a database. Each member has ten accounts with money, a user, and one counted daily limit. */
export interface Filling {
  readonly members: number;
  /** Earlier transfers of each account; each transfer belongs to two accounts. */
  readonly historyPerAccount: number;
  /** The members are spread over so many institutions; 1 by default. */
  readonly institutions?: number;
  /** The core keeps the books of all institutions, with the policy WAIT. By default they are the service's own. */
  readonly record?: 'core';
}

export const clientCredentials = {
  clientId: 'bench-app',
  clientSecret: 'bench-app-secret-of-no-use-elsewhere',
};
const floodClientId = 'bench-flood';
const connectorId = 'bench-connector';
/** Members with a token: one process's cache of verified tokens holds them all. */
const signedIn = 10_000;
const openingMinor = 100_000_000;
const keysFrom = 1_000;
const day = '2026-01-02 09:00:00+00';

export function urlOf({ host, user, database }: SocketConnection): string {
  return `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

/** Settings of the bench's own process and of the service that it starts. */
export function environmentOf(connection: SocketConnection): Record<string, string> {
  return {
    DATABASE_URL: urlOf({ ...connection, user: embeddedLogin }),
    SECRET_KEY: '5c'.repeat(32),
    PUBLIC_URL: 'http://bench.example',
    // One member of the bench sends the requests of a thousand real ones.
    DRY_RUNS_PER_MINUTE: '999999999',
    LOOK_UPS_PER_MINUTE: '999999999',
    CONTACT_CHANGES_PER_MINUTE: '999999999',
  };
}

/** Migrates the empty database with its owner's login, fills it, and returns the bearers. */
export async function fill(connection: SocketConnection, filling: Filling): Promise<People> {
  await migrate(connection, { login: embeddedLogin });
  const { config, secrets } = loadConfig(environmentOf(connection));
  const context = await openAppContext(config, secrets, 'own', () => {});
  try {
    const { institutions = 1 } = filling;
    const perInstitution = filling.members / institutions;
    const institutionIds: InstitutionId[] = [];
    for (let index = 0; index < institutions; index++) {
      const institutionId = await openInstitution(context, index);
      await copyMembers(connection, institutionId, {
        members: perInstitution,
        historyPerAccount: filling.historyPerAccount,
        firstMember: index * perInstitution,
      });
      institutionIds.push(institutionId);
    }
    if (filling.record === 'core') await letCoresRecord(connection);
    await settleTables(connection);

    const { tokens } = context.auth;
    const lifetimeSeconds = 86_400;
    const step = Math.max(1, Math.floor(filling.members / signedIn));
    const bearers: string[] = [];
    for (let member = 0; member < filling.members && bearers.length < signedIn; member += step) {
      const index = Math.floor(member / perInstitution);
      bearers.push(
        await tokens.issue(
          {
            institutionId: institutionIds[index] as InstitutionId,
            scopes,
            clientEpoch: 0,
            clientId: clientIdOf(index),
            use: 'member',
            userId: customerId(member),
            userEpoch: 0,
            customerIds: [customerId(member)],
          },
          lifetimeSeconds,
        ),
      );
    }
    const clientToken = (clientId: string, of: readonly Scope[]) =>
      tokens.issue(
        {
          institutionId: institutionIds[0] as InstitutionId,
          scopes: of,
          clientEpoch: 0,
          clientId,
          use: 'client',
        },
        lifetimeSeconds,
      );
    return {
      tokens: bearers,
      step,
      accounts: filling.members * accountsPerMember,
      accountsPerInstitution: perInstitution * accountsPerMember,
      floodToken: await clientToken(floodClientId, scopes),
      connectorToken: await clientToken(connectorId, connectorScopes),
    };
  } finally {
    await context.close();
  }
}

function clientIdOf(institution: number): string {
  return institution === 0 ? clientCredentials.clientId : `${clientCredentials.clientId}-${institution}`;
}

/** The institution and its client; the first one has the client that floods, too. */
async function openInstitution({ database, auth }: AppContext, index: number): Promise<InstitutionId> {
  const { institutionId } = await database.directory((db) =>
    insertInstitution(
      db,
      {
        code: index === 0 ? 'bench' : `bench-${index}`,
        name: 'Bench Credit Union',
        currency: 'USD',
        timeZone: 'America/New_York',
        enrollment: 'closed',
        openingDepositMinor: 0n,
        passwordMinLength: 15,
        demo: false,
      },
      new Date(),
    ),
  );
  const client = {
    institutionId,
    name: 'Bench',
    scopes,
    grants: ['client_credentials', 'password'] as const,
  };
  const secret = clientCredentials.clientSecret;
  await createClient(auth, { ...client, clientId: clientIdOf(index), secret }, ownOrigin());
  if (index === 0) {
    await createClient(auth, { ...client, clientId: floodClientId }, ownOrigin());
    await createClient(auth, { ...client, clientId: connectorId, scopes: connectorScopes }, ownOrigin());
  }
  return institutionId;
}

const scopes = ['account:read', 'institution-users:read', 'transfer:read', 'transfer:write'] as const;
const connectorScopes = ['core:read', 'core:write'] as const;

async function letCoresRecord(connection: SocketConnection): Promise<void> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  await client.query("update institutions set record = 'core'");
  await client.end();
}

/** Uses COPY, in key order, without triggers and policies: the rows are consistent by construction. */
async function copyMembers(
  connection: SocketConnection,
  institution: number,
  {
    members,
    historyPerAccount,
    firstMember,
  }: Pick<Filling, 'members' | 'historyPerAccount'> & { readonly firstMember: number },
): Promise<void> {
  const idOfMember = (member: number) => customerId(firstMember + member);
  const idOfAccount = (account: number) => accountId(firstMember * accountsPerMember + account);
  const accounts = members * accountsPerMember;
  const keyOfMember = (member: number) => keysFrom + member;
  const keyOfAccount = (account: number) => keysFrom + 1 + account;
  const funding = keysFrom;
  const perRound = accounts / 2;
  const transfers = perRound * historyPerAccount;
  /** Openings first, then the transfers in rounds: in each round every account has one transfer with its neighbor. */
  const openingKey = (account: number) => 1 + account;
  const transferKey = (round: number, account: number) => 1 + accounts + round * perRound + (account >> 1);
  const pays = (round: number, account: number) => (account + round) % 2 === 0;

  const client = new pg.Client({ ...connection });
  await client.connect();
  const copy = async (into: string, rows: Iterable<string>) => {
    await pipeline(
      Readable.from(inChunks(rows), { objectMode: false }),
      client.query(copyFrom(`copy ${into} from stdin`)),
    );
  };
  const perMember = (row: (member: number) => string) => each(members, row);
  const perAccount = (row: (account: number) => string) => each(accounts, row);
  try {
    await client.query(`set session_replication_role = replica`);
    await client.query(`set synchronous_commit = off`);
    await copy(
      'persons (institution_id, person_key, person_id, first_name, last_name, email)',
      perMember((m) =>
        row(institution, keyOfMember(m), idOfMember(m), 'Ada', `Example${m}`, `ada.${m}@example.test`),
      ),
    );
    await copy(
      'customers (institution_id, customer_key, customer_id, member_number, member_type)',
      perMember((m) => row(institution, keyOfMember(m), idOfMember(m), `B${m}`, 'RETAIL')),
    );
    await copy(
      'customer_persons (institution_id, customer_key, person_key, role)',
      perMember((m) => row(institution, keyOfMember(m), keyOfMember(m), 'PRIMARY')),
    );
    await copy(
      'users (institution_id, user_key, user_id, person_key, email, created_at)',
      perMember((m) =>
        row(institution, keyOfMember(m), idOfMember(m), keyOfMember(m), `ada.${m}@example.test`, day),
      ),
    );
    await copy(
      'user_phones (institution_id, user_key, phone_type, phone_number)',
      perMember((m) => row(institution, keyOfMember(m), 'MOBILE', '+12025550143')),
    );
    await copy(
      'accounts (institution_id, account_key, account_id, purpose, account_number, di_account_type, category, description, currency)',
      [
        row(
          institution,
          funding,
          'internal:funding:USD',
          'FUNDING',
          'internal',
          'GENERAL_LEDGER_ACCOUNT',
          'INTERNAL',
          'FUNDING USD',
          'USD',
        ),
      ],
    );
    await copy(
      'accounts (institution_id, account_key, account_id, customer_key, account_number, di_account_type, category, description, currency)',
      perAccount((a) =>
        row(
          institution,
          keyOfAccount(a),
          idOfAccount(a),
          keyOfMember(Math.floor(a / accountsPerMember)),
          7_000_000 + a,
          'CHECKING',
          'DEPOSIT',
          'Share Draft',
          'USD',
        ),
      ),
    );
    await copy(
      'holders (institution_id, account_key, person_key, role, may_pay)',
      perAccount((a) =>
        row(institution, keyOfAccount(a), keyOfMember(Math.floor(a / accountsPerMember)), 'PRIMARY', 't'),
      ),
    );

    const balances =
      'balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)';
    const postedAfter = (account: number, rounds: number) =>
      openingMinor + (rounds % 2 === 0 ? 0 : pays(0, account) ? -1 : 1);
    await copy(balances, [
      row(institution, funding, 'internal:funding:USD', 'USD', -openingMinor * accounts, 0, 0, accounts, day),
    ]);
    await copy(
      balances,
      perAccount((a) =>
        row(
          institution,
          keyOfAccount(a),
          idOfAccount(a),
          'USD',
          postedAfter(a, historyPerAccount),
          0,
          0,
          1 + historyPerAccount,
          day,
        ),
      ),
    );
    const entries =
      'entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after, credits_pending_after, recorded_at)';
    await copy(
      entries,
      perAccount((a) =>
        row(
          institution,
          funding,
          1 + a,
          openingKey(a),
          'OPENING',
          -openingMinor,
          -openingMinor * (a + 1),
          0,
          0,
          day,
        ),
      ),
    );
    await copy(
      entries,
      perAccount((a) => {
        let lines = row(
          institution,
          keyOfAccount(a),
          1,
          openingKey(a),
          'OPENING',
          openingMinor,
          openingMinor,
          0,
          0,
          day,
        );
        for (let round = 0; round < historyPerAccount; round++) {
          lines += row(
            institution,
            keyOfAccount(a),
            2 + round,
            transferKey(round, a),
            'TRANSFER',
            pays(round, a) ? -1 : 1,
            postedAfter(a, round + 1),
            0,
            0,
            day,
          );
        }
        return lines;
      }),
    );

    const pairOf = (index: number) => {
      const round = Math.floor(index / perRound);
      const even = (index % perRound) * 2;
      const [from, to] = pays(round, even) ? [even, even + 1] : [even + 1, even];
      return { key: transferKey(round, even), round, from, to };
    };
    const past = (text: (transfer: ReturnType<typeof pairOf>) => string) =>
      each(transfers, (index) => text(pairOf(index)));
    await copy(
      'transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id, from_key, to_key, amount, currency, status, client_id, user_key, created_at, settled_at)',
      past(({ key, from, to }) =>
        row(
          institution,
          key,
          `past-${key}`,
          'STANDARD',
          idOfAccount(from),
          idOfAccount(to),
          keyOfAccount(from),
          keyOfAccount(to),
          1,
          'USD',
          'COMPLETED',
          clientCredentials.clientId,
          keyOfMember(Math.floor(from / accountsPerMember)),
          day,
          day,
        ),
      ),
    );
    await copy(
      'idempotency_keys (institution_id, transfer_id, transfer_key)',
      past(({ key }) => row(institution, `past-${key}`, key)),
    );
    await copy(
      'outbox (institution_id, event_key, kind, subject_key, from_key, from_seq, to_key, to_seq, recorded_at)',
      past(({ key, round, from, to }) =>
        row(
          institution,
          key,
          'transfer.completed',
          key,
          keyOfAccount(from),
          round + 2,
          keyOfAccount(to),
          round + 2,
          day,
        ),
      ),
    );

    await client.query(`insert into limit_keys values ($1, 1, 'CUSTOMER DAY   USD')`, [institution]);
    await client.query(
      `insert into transfer_limits (institution_id, limit_key, subject, currency, period, max_amount)
                        values ($1, 1, 'CUSTOMER', 'USD', 'DAY', 1000000000)`,
      [institution],
    );
  } finally {
    await client.end();
  }
}

/** The sequences follow the copied keys. */
async function settleTables(connection: SocketConnection): Promise<void> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    await client.query(
      `select setval('posting_keys', 1000 + greatest((select max(posting_key) from entries), (select max(transfer_key) from transfers)))`,
    );
    for (const [table, column] of [
      ['persons', 'person_key'],
      ['customers', 'customer_key'],
      ['users', 'user_key'],
      ['accounts', 'account_key'],
      ['outbox', 'event_key'],
    ]) {
      await client.query(
        `select setval(pg_get_serial_sequence('${table}', '${column}'), (select coalesce(max(${column}), 1) from ${table}))`,
      );
    }
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

function row(...values: (string | number)[]): string {
  return `${values.join('\t')}\n`;
}

function* each(count: number, text: (index: number) => string): Iterable<string> {
  for (let index = 0; index < count; index++) yield text(index);
}

function* inChunks(rows: Iterable<string>): Iterable<Buffer> {
  let chunk = '';
  for (const text of rows) {
    chunk += text;
    if (chunk.length < 128 * 1024) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}
