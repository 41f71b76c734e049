/*
 * The books of the core: accounts, balances, holds, instructions. They change by `apply` only, entry by entry of the journal, so that
 * a restart finds the same books. No clock, no random numbers, no input or output.
 */

/** Amounts are cents inside the core, and decimals on the wire. */
export type Cents = number;

export interface Account {
  readonly accountId: string;
  readonly memberNumber: string;
  /** The PRIMARY holder; missing in a journal of an older version. */
  readonly personId?: string;
  /** Missing for an account of the extract. */
  readonly openedOn?: string;
  readonly type: string;
  readonly currencyCode: string;
  /** The lowest balance that a payment may leave: 0, minus an overdraft limit, minus a credit limit. */
  readonly floor: Cents;
  readonly isClosed: boolean;
  /** When the core opened its books. A debt is negative. */
  readonly opening: Cents;
}

/** A line for the service: a posting, or a card authorization that began, changed or ended. */
export interface Line {
  readonly id: string;
  readonly status?: 'AUTHORIZED' | 'CHANGED' | 'RELEASED';
  readonly accountId: string;
  readonly amount: number;
  readonly currencyCode: string;
  readonly kind: string;
  readonly postedAt: string;
  readonly effectiveDate: string;
  readonly description: string;
  readonly checkNumber?: string;
  readonly merchant?: string;
  readonly category?: string;
  readonly transferId?: string;
  readonly authorizationId?: string;
  readonly expiresAt?: string;
  readonly historic?: true;
}

/** A record as the service's door takes it. */
export type CoreRecord =
  | {
      readonly record: 'person';
      readonly changedAt: string;
      readonly personId: string;
      readonly phoneNumber: string;
      readonly phoneType: 'MOBILE';
    }
  | {
      readonly record: 'account';
      readonly changedAt: string;
      readonly accountId: string;
      readonly memberNumber: string;
      readonly accountNumber: string;
      readonly type: string;
      readonly description: string;
      readonly currency: string;
      readonly holders: readonly {
        readonly personId: string;
        readonly role: string;
        readonly mayPay: boolean;
      }[];
    };

/** Something that the core will do: a line of an open authorization, or its silent end. */
export interface Later {
  readonly at: string;
  readonly authorizationId: string;
  readonly line?: Line;
}

/** An order of the service, as its door hands it out. */
export interface Instruction {
  readonly id: string;
  readonly type: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: number;
  readonly currencyCode: string;
  readonly memo?: string | null;
  readonly reverses?: string | null;
}

export type Outcome =
  | { readonly outcome: 'ACCEPTED'; readonly coreReference: string }
  | { readonly outcome: 'REJECTED'; readonly code: string; readonly reason: string };

/** One line of the journal. Everything in it happens or nothing does. */
export interface Entry {
  /** The time of the core's clock. */
  readonly at: string;
  readonly opened?: { readonly seed: string; readonly zone: string; readonly accounts: readonly Account[] };
  /** The act of a day's plan that this entry carries out, also if nothing came of it. */
  readonly act?: { readonly day: string; readonly place: number };
  /** An account that a member opened. */
  readonly account?: Account;
  readonly records?: readonly CoreRecord[];
  /** The service has answered all records up to this number; these it refused. */
  readonly announced?: { readonly upTo: number; readonly refused?: Readonly<Record<number, string>> };
  readonly lines?: readonly Line[];
  readonly later?: readonly Later[];
  /** The earliest thing on the agenda is done. */
  readonly isNextDone?: true;
  readonly decided?: { readonly id: string } & Outcome;
  /** The service knows these outcomes. */
  readonly reported?: readonly string[];
  /** The service has answered all lines up to this number, except those that are sent again and those that the connector has lost. */
  readonly delivered?: {
    readonly upTo: number;
    readonly again: readonly number[];
    readonly refused?: Readonly<Record<number, string>>;
    readonly lost?: readonly number[];
  };
  /** The balances of this moment go to the service; no later entry is dated before it. */
  readonly comparing?: { readonly asOf: string };
  /** The service has compared them. */
  readonly compared?: { readonly asOf: string };
}

const bySwitch = { code: 'BY_SWITCH', reason: 'The switch `rejects` is on.' };

export interface AccountState extends Account {
  balance: Cents;
  /** The amount held by open card authorizations. */
  held: Cents;
}

export class Books {
  readonly accounts = new Map<string, AccountState>();
  readonly decided = new Map<string, Outcome>();
  readonly unreported = new Set<string>();
  /** All lines in order. A line's number is its place, from 1. */
  readonly lines: Line[] = [];
  readonly refused = new Map<number, string>();
  /** Of all records, in order; a record's number is its place from 1. */
  readonly records: CoreRecord[] = [];
  readonly refusedRecords = new Map<number, string>();
  announcedUpTo = 0;
  /** By person id, the newest numbers. */
  readonly phones = new Map<string, string>();
  /** The acts to come, in the order of their times. */
  readonly agenda: Later[] = [];
  deliveredUpTo = 0;
  again: readonly number[] = [];
  /** Lines that the connector has lost. Only a comparison of both books finds them. */
  readonly lost = new Set<number>();
  /** The moment of the balances that are on their way. */
  comparing: string | undefined;
  /** The moment of the newest comparison. */
  compared: string | undefined;
  seed = '';
  zone = 'UTC';
  /** The time of the newest entry. */
  at: string | undefined;
  lastAct: Entry['act'];
  readonly #holds = new Map<string, { readonly accountId: string; readonly amount: Cents }>();

  apply(entry: Entry): void {
    this.at = entry.at;
    if (entry.opened) this.#open(entry.opened);
    if (entry.act) this.lastAct = entry.act;
    if (entry.isNextDone) {
      const next = this.agenda.shift();
      if (next !== undefined && next.line === undefined) this.#endHold(next.authorizationId);
    }
    if (entry.account) {
      this.accounts.set(entry.account.accountId, {
        ...entry.account,
        balance: entry.account.opening,
        held: 0,
      });
    }
    for (const record of entry.records ?? []) {
      this.records.push(record);
      if (record.record === 'person') this.phones.set(record.personId, record.phoneNumber);
    }
    if (entry.announced) {
      this.announcedUpTo = entry.announced.upTo;
      for (const [number, code] of Object.entries(entry.announced.refused ?? {})) {
        this.refusedRecords.set(Number(number), code);
      }
    }
    for (const line of entry.lines ?? []) this.#post(line);
    for (const later of entry.later ?? []) this.#plan(later);
    if (entry.decided) {
      const { id, ...outcome } = entry.decided;
      this.decided.set(id, outcome);
      this.unreported.add(id);
    }
    for (const id of entry.reported ?? []) this.unreported.delete(id);
    if (entry.delivered) {
      this.deliveredUpTo = entry.delivered.upTo;
      this.again = entry.delivered.again;
      for (const [number, code] of Object.entries(entry.delivered.refused ?? {})) {
        this.refused.set(Number(number), code);
      }
      for (const number of entry.delivered.lost ?? []) this.lost.add(number);
    }
    if (entry.comparing) this.comparing = entry.comparing.asOf;
    if (entry.compared) {
      this.comparing = undefined;
      this.compared = entry.compared.asOf;
    }
  }

  /** The balances at a moment, in the order of the accounts. Holds are not in them. */
  balancesAt(moment: Date): ReadonlyMap<string, Cents> {
    const balances = new Map(
      [...this.accounts.values()].map(({ accountId, opening }) => [accountId, opening]),
    );
    for (const { status, accountId, amount, postedAt } of this.lines) {
      if (status !== undefined || Date.parse(postedAt) > moment.getTime()) continue;
      balances.set(accountId, (balances.get(accountId) ?? 0) + toCents(amount));
    }
    return balances;
  }

  /** Postings from one moment to another, with both. */
  postingsBetween(since: Date, until: Date): Line[] {
    return this.lines.filter(({ status, postedAt }) => {
      const at = Date.parse(postedAt);
      return status === undefined && at >= since.getTime() && at <= until.getTime();
    });
  }

  /** The money that a payment may take. Undefined for an account that does not exist or is closed. */
  available(accountId: string): Cents | undefined {
    const account = this.accounts.get(accountId);
    if (account === undefined || account.isClosed) return undefined;
    return account.balance - account.held - account.floor;
  }

  isHeld(authorizationId: string): boolean {
    return this.#holds.has(authorizationId);
  }

  /** Decides an instruction by these books, once and for ever: undefined if it is decided. */
  decide(
    instruction: Instruction,
    { at, day, isRefused }: { readonly at: string; readonly day: string; readonly isRefused: boolean },
  ): Entry | undefined {
    const { id, fromAccountId, toAccountId, currencyCode, reverses } = instruction;
    if (this.decided.has(id)) return undefined;
    const refusal = isRefused ? bySwitch : this.#refusal(instruction);
    if (refusal !== undefined) return { at, decided: { id, outcome: 'REJECTED', ...refusal } };
    const reference = `T-${day.replaceAll('-', '')}-${String(this.decided.size + 1).padStart(6, '0')}`;
    const what = reverses ? 'Reversal of a transfer' : 'Transfer';
    const posting = (side: 'd' | 'c', accountId: string, cents: Cents, text: string): Line => ({
      id: `${reference}-${side}`,
      accountId,
      amount: toDecimal(cents),
      currencyCode,
      kind: instruction.type === 'LOAN_PAYMENT' ? 'LOAN_PAYMENT' : 'TRANSFER',
      postedAt: at,
      effectiveDate: day,
      description: text,
      transferId: id,
    });
    const cents = toCents(instruction.amount);
    return {
      at,
      decided: { id, outcome: 'ACCEPTED', coreReference: reference },
      lines: [
        posting('d', fromAccountId, -cents, `${what} to ${toAccountId}`),
        posting('c', toAccountId, cents, `${what} from ${fromAccountId}`),
      ],
    };
  }

  #refusal(instruction: Instruction): { readonly code: string; readonly reason: string } | undefined {
    const { fromAccountId, toAccountId, currencyCode, reverses } = instruction;
    if (reverses && this.decided.get(reverses)?.outcome !== 'ACCEPTED') {
      return { code: 'NOT_POSTED', reason: 'The transfer to reverse was not posted at the core.' };
    }
    for (const accountId of [fromAccountId, toAccountId]) {
      const account = this.accounts.get(accountId);
      if (account === undefined) {
        return { code: 'NO_ACCOUNT', reason: `The core has no account ${accountId}.` };
      }
      if (account.isClosed) return { code: 'CLOSED', reason: `The account ${accountId} is closed.` };
      if (account.currencyCode !== currencyCode) {
        return { code: 'CURRENCY', reason: `The account ${accountId} is not in ${currencyCode}.` };
      }
    }
    // A reversal gives the transfer's amount back, even if it was spent meanwhile.
    if (!reverses && (this.available(fromAccountId) ?? 0) < toCents(instruction.amount)) {
      return { code: 'NSF', reason: 'The money is not there at the core.' };
    }
    return undefined;
  }

  /** Whether the service knows the account: from the extract, or by a record that it has answered. */
  isAnnounced(accountId: string): boolean {
    return !this.records
      .slice(this.announcedUpTo)
      .some((record) => record.record === 'account' && record.accountId === accountId);
  }

  #open({ seed, zone, accounts }: NonNullable<Entry['opened']>): void {
    this.seed = seed;
    this.zone = zone;
    for (const account of accounts) {
      this.accounts.set(account.accountId, { ...account, balance: account.opening, held: 0 });
    }
  }

  #post(line: Line): void {
    this.lines.push(line);
    const account = this.accounts.get(line.accountId);
    if (account === undefined) throw new Error(`the journal posts to ${line.accountId}, which is not open`);
    if (line.status === undefined) {
      if (line.authorizationId !== undefined) this.#endHold(line.authorizationId);
      account.balance += toCents(line.amount);
      return;
    }
    this.#endHold(line.id);
    if (line.status === 'RELEASED') return;
    const amount = -toCents(line.amount);
    account.held += amount;
    this.#holds.set(line.id, { accountId: line.accountId, amount });
  }

  #endHold(id: string): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    this.#holds.delete(id);
    const account = this.accounts.get(hold.accountId);
    if (account !== undefined) account.held -= hold.amount;
  }

  #plan(later: Later): void {
    const place = this.agenda.findLastIndex(({ at }) => Date.parse(at) <= Date.parse(later.at));
    this.agenda.splice(place + 1, 0, later);
  }
}

export function toCents(amount: number): Cents {
  return Math.round(amount * 100);
}

export function toDecimal(cents: Cents): number {
  return cents / 100;
}
