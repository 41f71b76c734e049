import { ownOrigin } from '../../src/events/index.ts';
import type { Actor, MemberActor, PresentedToken } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import type * as Storage from '../../src/storage/index.ts';
import type * as Transfers from '../../src/transfers/index.ts';
import type { TestDatabase } from './database.ts';
import type { Program } from './mutant.ts';
import { commandOf } from './operator.ts';
import { plantWorld } from './random-world.ts';
import type { World, WorldAccount, WorldLimit, WorldPolicy } from './slow-model.ts';
import { inactiveTokens } from './tokens.ts';

/** Tuesday, 10:00 in New York. */
const tuesday = '2026-03-03T15:00:00Z';

export interface TellerOrder {
  readonly id?: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
  readonly currency?: string;
  readonly type?: Transfers.TransferType;
  readonly option?: 'DEFAULT' | 'PRINCIPAL_ONLY' | 'INTEREST_ONLY' | 'EXCESS_TO_PRINCIPAL';
  readonly previousYear?: boolean;
}

/** Submits orders to a program's desk, and returns each outcome in a word or two. */
export class Teller implements AsyncDisposable {
  readonly db: TestDatabase;
  readonly database: Storage.Database;
  now = new Date(tuesday);
  readonly client: Actor;
  readonly members: ReadonlyMap<string, MemberActor>;
  readonly #ledger: Storage.Database;
  readonly #desk: Transfers.TransferDesk;
  readonly #transfers: typeof Transfers;
  readonly logged: object[] = [];
  /** The cause of the last problem. */
  cause: unknown;
  #ids = 0;

  private constructor(
    db: TestDatabase,
    storage: typeof Storage,
    transfers: typeof Transfers,
    client: Actor,
    members: ReadonlyMap<string, MemberActor>,
  ) {
    this.db = db;
    this.client = client;
    this.members = members;
    this.#transfers = transfers;
    const { deskSettings, openTransferDesk, rememberSettings, transferLanes } = transfers;
    this.database = new storage.Database({ connection: db.connection, maxConnections: 2 });
    this.#ledger = new storage.Database({
      connection: db.connection,
      maxConnections: transferLanes,
      settings: deskSettings,
    });
    this.#desk = openTransferDesk(this.#ledger, {
      database: this.database,
      clock: () => this.now,
      postingKeys: new PostingKeys(db.database),
      settings: rememberSettings(this.database),
      inactiveTokens,
      onAhead: transfers.logAhead((event, { institutionId: _, ...details }: { institutionId?: unknown }) =>
        this.logged.push({ event, ...details }),
      ),
    });
  }

  static async of(program: Program, db: TestDatabase, changes: Partial<World> = {}): Promise<Teller> {
    const { institution, members } = await plantWorld(db, { ...smallWorld, ...changes });
    const [storage, transfers] = await Promise.all([
      program.load<typeof Storage>('storage/index.ts'),
      program.load<typeof Transfers>('transfers/index.ts'),
    ]);
    const client = { kind: 'client', institutionId: institution.institutionId, clientId: 'app' } as const;
    return new Teller(db, storage, transfers, client, members);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ledger.close();
    await this.database.close();
  }

  /** The login of a person, or the institution's client. */
  #actor(by: string): Actor {
    return this.members.get(by) ?? this.client;
  }

  async order(by: string, order: TellerOrder, token?: PresentedToken): Promise<string> {
    const { initiateTransfer } = this.#transfers;
    const actor = { ...this.#actor(by), token };
    return this.#inWords(
      initiateTransfer(this.#desk, actor, { order: this.#asked(order), origin: ownOrigin() }),
    );
  }

  async dryRun(by: string, order: TellerOrder): Promise<string> {
    const { explainTransfer } = this.#transfers;
    const outcome = explainTransfer(this.#desk, this.#actor(by), this.#asked(order));
    return this.#inWords(outcome);
  }

  #inWords(asked: Promise<object>): Promise<string> {
    asked.catch((error) => {
      this.cause = error.cause;
    });
    return inWords(asked);
  }

  #asked(order: TellerOrder): Transfers.TransferOrder {
    const amount = this.#transfers.parseDecimalAmount(order.amount);
    if ('invalid' in amount) throw new Error(amount.invalid);
    return {
      transferId: order.id ?? `order-${++this.#ids}`,
      fromAccountId: order.from,
      toAccountId: order.to,
      amount,
      currencyCode: order.currency ?? null,
      transferType: order.type ?? null,
      paymentOption: order.option ?? null,
      previousYearContribution: order.previousYear ?? null,
      memo: null,
    };
  }

  cancel(by: string, id: string): Promise<string> {
    return this.#inWords(
      this.#transfers.cancelTransfer(this.#desk, this.#actor(by), { transferId: id, origin: ownOrigin() }),
    );
  }

  review(kind: 'approve' | 'decline', operator: string, id: string): Promise<string> {
    const { institutionId } = this.client;
    const act = { kind, origin: commandOf(operator) } as const;
    return this.#inWords(this.#transfers.reviewTransfer(this.#desk, institutionId, { transferId: id, act }));
  }

  /** Ann orders the reversal and, under dual control, Bob confirms it. */
  async reverse(originalId: string, transferId: string): Promise<string> {
    const by = (person: string) => {
      const reversal = { originalId, transferId, origin: commandOf(person) };
      const { institutionId } = this.client;
      return this.#inWords(this.#transfers.reverseTransfer(this.#desk, institutionId, reversal));
    };
    const first = await by('ann');
    return first === 'proposed' ? by('bob') : first;
  }

  /** The sweep of due transfers; returns the number that it changed. */
  async settleDue(): Promise<number | string> {
    const { institutionId } = this.client;
    return this.#transfers.settleDue(this.#desk, institutionId).catch((error) => `problem ${error.code}`);
  }

  /** Submits the transfer to the desk as a sweep does that has read it as due. */
  submitDue(transferId: string, { from, to }: Pick<TellerOrder, 'from' | 'to'>): Promise<string> {
    const order = { kind: 'transition', transferId, fromAccountId: from, toAccountId: to } as const;
    return this.#inWords(
      this.#desk.queue.submit(this.client.institutionId, { ...order, act: { kind: 'due' } }),
    );
  }

  async read(by: string, id: string): Promise<string> {
    return this.#inWords(this.#transfers.getTransfer(this.database, this.#actor(by), id));
  }

  /** `posted held-out held-in`, in minor units. */
  async balance(accountId: string): Promise<string> {
    const [row] = await this.db.superuser<{ figures: string }>(
      `select concat_ws(' ', posted, debits_pending, credits_pending) as figures from balances
       where institution_id = $1 and account_id = $2`,
      [this.client.institutionId, accountId],
    );
    return row?.figures ?? 'none';
  }

  /** `fees interest due`, and whether it is delinquent. */
  async dues(accountId: string): Promise<string> {
    const [row] = await this.db.superuser<{ figures: string }>(
      `select concat_ws(' ', fees_due, accrued_interest, amount_due, delinquent) as figures
       from loans join accounts using (institution_id, account_key) where institution_id = $1 and account_id = $2`,
      [this.client.institutionId, accountId],
    );
    return row?.figures ?? 'none';
  }
}

async function inWords(asked: Promise<object>): Promise<string> {
  let outcome: object;
  try {
    outcome = await asked;
  } catch (error) {
    return `problem ${(error as { code?: string }).code ?? error}`;
  }
  const { kind, why, differs, transfer } = outcome as {
    readonly kind?: string;
    readonly why?: string;
    readonly differs?: readonly string[] | null;
    readonly transfer?: Transfers.Transfer;
  };
  const state = ({ failureCode, status }: Transfers.Transfer) => failureCode ?? status;
  if (kind === 'id_reused') return ['id_reused', ...(differs ?? [])].join(' ');
  if (transfer === undefined) return kind ?? state(outcome as Transfers.Transfer);
  if (kind === 'replayed') return `replayed ${state(transfer)}`;
  return why ?? state(transfer);
}

function account(id: string, diAccountType: string, more: Partial<WorldAccount> = {}): WorldAccount {
  const person = id.split('-')[0] as string;
  return {
    id,
    membership: person,
    diAccountType,
    category: 'DEPOSIT',
    currency: 'USD',
    closed: false,
    delinquent: false,
    restriction: null,
    overdraft: 0n,
    opening: 0n,
    loan: null,
    holders: [{ person, role: 'PRIMARY', mayPay: true }],
    ...more,
  };
}

const carLoan = { interest: 80_00n, fees: 20_00n, due: 60_00n };

/** Ada has most accounts, in two memberships; Ben sees one of her accounts and may not pay from it. */
export const smallWorld: World = {
  timeZone: 'America/New_York',
  currency: 'USD',
  exceptions: new Map(),
  policies: [],
  limits: [],
  ownContributionLimits: [],
  people: [
    { name: 'ada', birthDate: '1976-12-31', hasLogin: true },
    { name: 'ben', birthDate: '1990-05-05', hasLogin: true },
  ],
  memberships: [
    { name: 'ada', people: ['ada'] },
    { name: 'ben', people: ['ben'] },
    { name: 'two', people: ['ada'] },
  ],
  accounts: [
    account('ada-checking', 'CHECKING', {
      opening: 1_000_00n,
      holders: [
        { person: 'ada', role: 'PRIMARY', mayPay: true },
        { person: 'ben', role: 'AUTHORIZED_SIGNER', mayPay: false },
      ],
    }),
    account('ada-savings', 'SAVINGS', { opening: 20_000_00n }),
    account('ada-certificate', 'CERT_OF_DEPOSIT', { opening: 500_00n }),
    account('ada-ira', 'RETIREMENT_IRA'),
    account('ada-roth', 'RETIREMENT_IRA'),
    account('ada-loan', 'INSTALLMENT_LOAN', {
      category: 'LOAN',
      opening: -1_000_00n,
      loan: carLoan,
      delinquent: true,
    }),
    account('ada-closed', 'SAVINGS', { closed: true }),
    account('ada-euro', 'SAVINGS', { currency: 'EUR', opening: 100_00n }),
    account('ada-two', 'CHECKING', { membership: 'two', opening: 100_00n }),
    account('ada-frozen', 'SAVINGS', { opening: 100_00n, restriction: 'EXCLUDE_AS_FROM' }),
    account('ben-checking', 'CHECKING', { opening: 1_000_00n, overdraft: 50_00n }),
    account('ben-loan', 'INSTALLMENT_LOAN', { category: 'LOAN', opening: -1_000_00n, loan: carLoan }),
  ],
};

export function policy(change: Partial<WorldPolicy> & Pick<WorldPolicy, 'type'>): WorldPolicy {
  return { currency: 'USD', review: null, cutOff: null, options: ['DEFAULT'], ...change };
}

export function limit(change: Partial<WorldLimit>): WorldLimit {
  return {
    key: 1,
    subject: 'CUSTOMER',
    period: 'DAY',
    type: null,
    sourceType: null,
    currency: 'USD',
    maxPerTransfer: null,
    maxAmount: null,
    maxCount: null,
    ...change,
  };
}
