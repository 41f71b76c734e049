/*
 * A process that sends random orders to the ledger and compares each outcome with a slow, obvious model. It alone
 * uses its source accounts, so every outcome is determined; it shares its destinations with other processes, so they
 * meet on locks, batch ids and commits.
 */

import { parseArgs } from 'node:util';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { Database, embeddedLogin } from '../../src/storage/index.ts';
import {
  initiateTransfer,
  openTransferDesk,
  rememberSettings,
  type TransferOrder,
} from '../../src/transfers/index.ts';
import { mulberry32, pick } from './random.ts';
import { aToken, inactiveTokens } from './tokens.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '' },
    database: { type: 'string', default: '' },
    name: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    sources: { type: 'string', default: '' },
    sinks: { type: 'string', default: '' },
  },
});
const connection = { host: values.host, port: 5432, user: embeddedLogin, database: values.database };
const database = new Database({ connection, maxConnections: 2 });
// The model decides orders in their order; one that gave up waiting for a lock would come after later ones.
const patience = { lock_timeout: '60s', statement_timeout: '120s' };
const ledger = new Database({ connection, maxConnections: 2, settings: patience });
const institution = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
if (institution === undefined) throw new Error('no institution');
const actor = { kind: 'client', institutionId: institution.institutionId, clientId: 'demo-app' } as const;
const desk = openTransferDesk(ledger, {
  database,
  clock: () => new Date(),
  postingKeys: new PostingKeys(database),
  settings: rememberSettings(database),
  inactiveTokens,
});

const [sources, sinks] = [values.sources.split(','), values.sinks.split(',')];
const random = mulberry32(Number(values.seed));

/** The model: money per source, and the outcome of each id. */
const money = new Map(
  sources.map((entry) => entry.split('=')).map(([id = '', cents = '0']) => [id, BigInt(cents)]),
);
const own = [...money.keys()];
interface Said {
  readonly order: TransferOrder;
  readonly outcome: string;
}
const said: Said[] = [];

function expected(order: TransferOrder, first: Said | undefined): string {
  if (first !== undefined) {
    const same =
      first.order.fromAccountId === order.fromAccountId &&
      first.order.toAccountId === order.toAccountId &&
      first.order.amount.digits === order.amount.digits;
    return same ? `replayed ${first.outcome}` : 'id_reused';
  }
  const available = money.get(order.fromAccountId);
  const payable = money.has(order.toAccountId) || sinks.includes(order.toAccountId);
  if (available === undefined || !payable) return 'account_not_found';
  if (order.fromAccountId === order.toAccountId) return 'same_account';
  if (available < order.amount.digits) return 'insufficient_funds';
  money.set(order.fromAccountId, available - order.amount.digits);
  const target = money.get(order.toAccountId);
  if (target !== undefined) money.set(order.toAccountId, target + order.amount.digits);
  return 'COMPLETED';
}

function nextOrder(index: number): { order: TransferOrder; first: Said | undefined } {
  const order = {
    transferId: `${values.name}-${index}`,
    fromAccountId: random(200) === 0 ? 'no-such-account' : pick(random, own),
    toAccountId: random(3) === 0 ? pick(random, own) : pick(random, sinks),
    amount: { digits: BigInt(1 + random(random(10) === 0 ? 5_000_000 : 900)), decimals: 2 },
    currencyCode: null,
    transferType: null,
    paymentOption: null,
    previousYearContribution: null,
    memo: null,
  };
  if (said.length === 0 || random(20) !== 0) return { order, first: undefined };
  // A used id: with the same order, or with another amount.
  const first = pick(random, said);
  const amount =
    random(2) === 0 ? first.order.amount : { digits: first.order.amount.digits + 1n, decimals: 2 };
  return { order: { ...first.order, amount }, first };
}

async function beRefused(order: TransferOrder): Promise<void> {
  const token = aToken(() => Promise.reject(new Error('revoked')));
  const got = await initiateTransfer(desk, { ...actor, token }, { order, origin: ownOrigin() }).then(
    ({ kind }) => kind,
    (error) => (error instanceof Problem ? error.code : String(error)),
  );
  if (got !== 'invalid_token') wrong.push(`${order.transferId}: expected to be refused, got ${got}`);
}

const count = Number(values.count);
const wrong: string[] = [];
let sent = 0;
let waiting: Promise<void>[] = [];
while (sent < count) {
  const { order, first } = nextOrder(sent++);
  const [dead, hasToken] = [random(20) === 0, random(2) === 0];
  // First the same order by an ended token: it leaves nothing, not even the id.
  if (dead) waiting.push(beRefused(order));
  const outcome = expected(order, first);
  // An order from a missing source uses up no id: repeated, it is new.
  if (first === undefined && order.fromAccountId !== 'no-such-account') said.push({ order, outcome });
  waiting.push(
    initiateTransfer(desk, hasToken ? { ...actor, token: aToken(async () => {}) } : actor, {
      order,
      origin: ownOrigin(),
    }).then((answer) => {
      const got =
        answer.kind === 'new' || answer.kind === 'replayed'
          ? `${answer.kind === 'replayed' ? 'replayed ' : ''}${answer.transfer.failureCode ?? answer.transfer.status}`
          : answer.kind;
      if (got !== outcome) wrong.push(`${order.transferId}: expected ${outcome}, got ${got}`);
    }),
  );
  if (waiting.length >= 500) {
    await Promise.all(waiting);
    waiting = [];
  }
}
await Promise.all(waiting);
await database.close();
await ledger.close();
const balances = Object.fromEntries([...money].map(([id, cents]) => [id, String(cents)]));
process.stdout.write(
  `${JSON.stringify({ wrong: wrong.slice(0, 20), wrongCount: wrong.length, balances })}\n`,
);
