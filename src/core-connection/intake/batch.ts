import { eventsToAppend, type NewEvent } from '../../events/index.ts';
import { type Book, formatMinor } from '../../ledger/index.ts';
import type { InstitutionId, Write } from '../../storage/index.ts';
import {
  type AuthorizationRow,
  type KnownAuthorizationRow,
  saveAuthorizations,
} from './authorization-queries.ts';
import type { Refusal } from './lines.ts';
import { settlementAccountId } from './settlement-accounts.ts';
import type { CoreKind, RefusalCode, TransactionLine } from './transaction-line.ts';
import {
  type CoreTransactionRow,
  type EchoedTransferRow,
  insertTransactions,
  type KnownTransactionRow,
} from './transaction-queries.ts';

/** The result of a line. */
export type Outcome =
  | {
      readonly id: string;
      readonly result: 'posted' | 'already' | 'held' | 'changed' | 'released' | 'echo';
    }
  | ({ readonly result: 'refused' | 'conflict' } & Refusal<RefusalCode>);

/** The rows that the lines of a batch meet, read behind the locks of their accounts. */
export interface Ground {
  readonly book: Book;
  readonly known: readonly KnownTransactionRow[];
  readonly authorizations: readonly KnownAuthorizationRow[];
  readonly echoed: readonly EchoedTransferRow[];
  /** Two for each line. */
  readonly postingKeys: readonly bigint[];
  readonly at: Date;
}

/**
 * Decides the lines of a batch one after another, each on the accounts as the lines before left them, and collects their writes. No
 * two lines of a batch have the same id, authorization or transfer.
 */
export class Batch {
  readonly #ground: Ground;
  readonly #known: ReadonlyMap<string, KnownTransactionRow>;
  readonly #authorizations: ReadonlyMap<string, KnownAuthorizationRow>;
  readonly #echoed: ReadonlyMap<string, EchoedTransferRow>;
  readonly #transactions: CoreTransactionRow[] = [];
  readonly #added: AuthorizationRow[] = [];
  readonly #changed: AuthorizationRow[] = [];
  readonly #events: NewEvent[] = [];
  #keysUsed = 0;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#known = new Map(ground.known.map((row) => [row.coreId, row]));
    this.#authorizations = new Map(ground.authorizations.map((row) => [row.authorizationId, row]));
    this.#echoed = new Map(ground.echoed.map((row) => [`${row.transferId} ${row.accountId}`, row]));
  }

  take(line: TransactionLine): Outcome {
    const account = this.#ground.book.find(line.accountId);
    if (account === undefined || line.accountId.startsWith('internal:')) {
      return refused(line, 'account_not_found', 'The institution has no account with this accountId.');
    }
    if (account.currency !== line.currencyCode) {
      return refused(line, 'currency_mismatch', 'currencyCode is not the currency of the account.');
    }
    if (line.status !== 'POSTED') return this.#takeNews(line);
    const before = this.#known.get(line.id);
    if (before !== undefined) return repeated(line, before);
    return line.transferId === null ? this.#post(line) : this.#echo(line, line.transferId);
  }

  /** The writes of the lines so far. The order matters: triggers find only rows that were written before. */
  writes(institutionId: InstitutionId): readonly Write[] {
    const { book, at } = this.#ground;
    return [
      ...book.writes(at),
      ...insertTransactions(institutionId, this.#transactions, at),
      ...saveAuthorizations(institutionId, { added: this.#added, changed: this.#changed }, at),
      ...eventsToAppend(institutionId, this.#events, at),
    ];
  }

  #post(line: TransactionLine): Outcome {
    const { book } = this.#ground;
    const authorization =
      line.authorizationId === null ? undefined : this.#authorizations.get(line.authorizationId);
    if (authorization !== undefined && authorization.accountId !== line.accountId) {
      return refused(line, 'not_authorized', 'authorizationId is an authorization of another account.');
    }
    this.#settle(line, authorization);
    const settlementId = settlementAccountId(line.kind, line.currencyCode);
    const isCredit = line.amountMinor > 0n;
    const postingKey = this.#nextKey();
    book.record({
      kind: 'CORE',
      postingKey,
      debitAccountId: isCredit ? settlementId : line.accountId,
      creditAccountId: isCredit ? line.accountId : settlementId,
      amountMinor: isCredit ? line.amountMinor : -line.amountMinor,
    });
    this.#append(line, { postingKey, seq: book.require(line.accountId).seq, settlementId });
    const data = {
      coreId: line.id,
      kind: line.kind,
      amount: formatMinor(line.amountMinor, line.currencyCode),
    };
    if (!line.isHistoric) this.#announce('account.posted', line.accountId, data);
    return { id: line.id, result: 'posted' };
  }

  /**
   * Ends the hold that announced a posting. An unknown authorization is stored as ended, so that it holds nothing if it arrives late.
   */
  #settle(line: TransactionLine, authorization: KnownAuthorizationRow | undefined): void {
    if (line.authorizationId === null) return;
    if (authorization === undefined) {
      this.#addEnded(line, line.authorizationId, 'SETTLED');
    } else if (authorization.ended === null) {
      this.#end(authorization, 'SETTLED', line.postedAt);
    }
  }

  /** The transfer has moved the money already: its entry gets the core's facts. */
  #echo(line: TransactionLine, transferId: string): Outcome {
    const transfer = this.#echoed.get(`${transferId} ${line.accountId}`);
    if (transfer === undefined) {
      return refused(line, 'transfer_not_found', 'There is no transfer with this transferId.');
    }
    if (transfer.status !== 'COMPLETED') {
      return refused(line, 'transfer_not_completed', 'The transfer has moved no money.');
    }
    if (transfer.seq === null || transfer.amount !== line.amountMinor) {
      return refused(line, 'amount_mismatch', 'The transfer moved another amount on this account, or none.');
    }
    if (transfer.echoedBy !== null) {
      return refused(line, 'echo_repeated', 'Another id is the echo of this transfer on this account.');
    }
    this.#append(line, { postingKey: transfer.transferKey, seq: transfer.seq, settlementId: null });
    return { id: line.id, result: 'echo' };
  }

  #takeNews(line: TransactionLine): Outcome {
    const before = this.#authorizations.get(line.id);
    if (before === undefined) return this.#begin(line);
    if (before.accountId !== line.accountId) {
      return line.status === 'AUTHORIZED'
        ? reused(line, ['accountId'])
        : refused(line, 'not_authorized', 'id is an authorization of another account.');
    }
    const held = -line.amountMinor;
    const already = { id: line.id, result: 'already' } as const;
    if (line.status === 'RELEASED') {
      if (before.ended !== null) return already;
      this.#end(before, 'RELEASED', line.postedAt);
      return { id: line.id, result: 'released' };
    }
    if (line.status === 'AUTHORIZED') {
      if (before.authorizedAmount !== null) {
        return before.authorizedAmount === held ? already : reused(line, ['amount']);
      }
      const { description, merchant, category } = line;
      this.#changed.push({ ...before, authorizedAmount: held, description, merchant, category });
      return already;
    }
    if (before.ended !== null || line.postedAt < before.changedAt) return already;
    if (before.held === held) return already;
    if (line.postedAt.getTime() === before.changedAt.getTime()) return reused(line, ['amount']);
    this.#change(before, { held, changedAt: line.postedAt, expiresAt: line.expiresAt ?? before.expiresAt });
    return { id: line.id, result: 'changed' };
  }

  /** The first news of an authorization, in whatever order they arrive. */
  #begin(line: TransactionLine): Outcome {
    const held = -line.amountMinor;
    const isOver = line.expiresAt !== null && line.expiresAt <= this.#ground.at;
    if (line.status === 'RELEASED' || held === 0n || isOver) {
      this.#addEnded(line, line.id, isOver ? 'EXPIRED' : 'RELEASED');
      return { id: line.id, result: 'released' };
    }
    const postingKey = this.#nextKey();
    const settlementId = settlementAccountId(line.kind, line.currencyCode);
    this.#ground.book.changeHold({ postingKey, accountId: line.accountId, settlementId, changeMinor: held });
    this.#added.push({ ...this.#newAuthorization(line, line.id), postingKey, held, ended: null });
    this.#announce('account.held', line.accountId, { authorizationId: line.id });
    return { id: line.id, result: 'held' };
  }

  #end(authorization: KnownAuthorizationRow, ended: 'SETTLED' | 'RELEASED', changedAt: Date): void {
    this.#change(authorization, { held: 0n, ended, changedAt });
  }

  #change(
    before: KnownAuthorizationRow,
    change: Partial<Pick<AuthorizationRow, 'held' | 'ended' | 'changedAt' | 'expiresAt'>>,
  ): void {
    const { accountId, settlementId } = before;
    const held = change.held ?? before.held;
    const postingKey = this.#nextKey();
    this.#ground.book.changeHold({ postingKey, accountId, settlementId, changeMinor: held - before.held });
    const ended = held === 0n ? (change.ended ?? 'RELEASED') : null;
    this.#changed.push({ ...before, ...change, held, ended, postingKey });
    const kind = held > before.held ? 'account.held' : 'account.released';
    this.#announce(kind, accountId, { authorizationId: before.authorizationId });
  }

  #addEnded(
    line: TransactionLine,
    authorizationId: string,
    ended: NonNullable<AuthorizationRow['ended']>,
  ): void {
    this.#added.push({
      ...this.#newAuthorization(line, authorizationId),
      postingKey: this.#nextKey(),
      held: 0n,
      ended,
    });
  }

  #newAuthorization(
    line: TransactionLine,
    authorizationId: string,
  ): Omit<AuthorizationRow, 'postingKey' | 'held' | 'ended'> {
    const { book } = this.#ground;
    const { description, merchant, category, postedAt, expiresAt } = line;
    return {
      authorizationId,
      accountKey: book.require(line.accountId).accountKey,
      settlementKey: book.require(settlementAccountId(line.kind, line.currencyCode)).accountKey,
      authorizedAmount: line.status === 'AUTHORIZED' ? -line.amountMinor : null,
      ...(line.status === 'POSTED' ? noTexts : { description, merchant, category }),
      changedAt: postedAt,
      expiresAt,
    };
  }

  #append(
    line: TransactionLine,
    entry: { readonly postingKey: bigint; readonly seq: bigint; readonly settlementId: string | null },
  ): void {
    const { book } = this.#ground;
    const { settlementId, ...numbers } = entry;
    this.#transactions.push({
      ...numbers,
      coreId: line.id,
      accountKey: book.require(line.accountId).accountKey,
      settlementKey: settlementId === null ? null : book.require(settlementId).accountKey,
      amount: line.amountMinor,
      kind: line.kind,
      postedAt: line.postedAt,
      effectiveDate: line.effectiveDate,
      description: line.description ?? '',
      checkNumber: line.checkNumber,
      merchant: line.merchant,
      category: line.category,
      runningBalance: line.runningBalanceMinor,
      authorizationId: line.authorizationId,
      isHistoric: line.isHistoric,
    });
  }

  #announce(kind: string, accountId: string, data: object): void {
    const { accountKey, seq } = this.#ground.book.require(accountId);
    this.#events.push({ kind, subjectKey: accountKey, toKey: accountKey, toSeq: seq, data });
  }

  #nextKey(): bigint {
    const key = this.#ground.postingKeys[this.#keysUsed];
    if (key === undefined)
      throw new Error('core-connection: a batch needs more posting keys than it was given');
    this.#keysUsed += 1;
    return key;
  }
}

const noTexts = { description: null, merchant: null, category: null };

/** The same id again: nothing happens if the content is the same. A text that one of the two leaves out does not count. */
function repeated(line: TransactionLine, before: KnownTransactionRow): Outcome {
  const differing: string[] = [];
  const compare = (name: string, one: unknown, other: unknown, isOptional = false) => {
    if (isOptional && (one === null || other === null)) return;
    if (one !== other) differing.push(name);
  };
  compare('accountId', line.accountId, before.accountId);
  compare('amount', line.amountMinor, before.amount);
  compare('kind', line.kind satisfies CoreKind, before.kind);
  compare('postedAt', line.postedAt.getTime(), before.postedAt.getTime());
  compare('effectiveDate', line.effectiveDate, before.effectiveDate);
  compare('description', line.description, before.description);
  compare('transferId', line.transferId, before.transferId);
  compare('checkNumber', line.checkNumber, before.checkNumber, true);
  compare('merchant', line.merchant, before.merchant, true);
  compare('category', line.category, before.category, true);
  compare('runningBalance', line.runningBalanceMinor, before.runningBalance, true);
  compare('authorizationId', line.authorizationId, before.authorizationId, true);
  return differing.length === 0 ? { id: line.id, result: 'already' } : reused(line, differing);
}

function reused(line: TransactionLine, differing: readonly string[]): Outcome {
  const detail = `The id was used before with another ${differing.join(', ')}.`;
  return { id: line.id, result: 'conflict', code: 'id_reused', detail };
}

function refused({ id }: TransactionLine, code: RefusalCode, detail: string): Outcome {
  return { id, result: 'refused', code, detail };
}
