import { findInstitution, instantOf, localDate } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { type PendingRow, selectPending } from '../desk/pending-queries.ts';
import { Counters, periodStartOf } from '../rules/controls/limits.ts';
import type { Screening } from '../rules/controls/screening.ts';
import type { Transfer } from '../rules/transfer.ts';
import { selectTransferById, type TransferRow } from '../transfer-queries.ts';
import { type Check, checksOf, type Decision, usagesThen } from './checks.ts';
import {
  selectBalancesBefore,
  selectCountedBefore,
  selectSignInOf,
  selectSource,
} from './decision-queries.ts';
import { readRulesThen } from './rules-then.ts';
import {
  type ApprovalRow,
  type CoreInstructionRow,
  selectApprovals,
  selectCircumstances,
  selectCoreInstruction,
  selectEntriesOfTransfer,
  selectScreeningOf,
} from './show-queries.ts';

interface ShownEntry {
  readonly accountId: string;
  readonly seq: bigint;
  readonly kind: string;
  readonly amountMinor: bigint;
  readonly postedAfterMinor: bigint;
  readonly debitsPendingAfterMinor: bigint;
  readonly creditsPendingAfterMinor: bigint;
  readonly recordedAt: Date;
}

/** A step in the life of a transfer. */
interface Step {
  readonly at: Date;
  readonly step: string;
  /** The time since the previous step; null for the first. */
  readonly afterMillis: number | null;
}

/** A transfer with its decision and its entries, for an operator. */
export interface ShownTransfer {
  readonly transferKey: bigint;
  readonly transfer: Transfer;
  readonly clientId: string | null;
  readonly userId: string | null;
  readonly operator: string | null;
  readonly requestId: string | null;
  readonly settledAt: Date | null;
  /** The checks of its decision, in the order in which the rules ask them. */
  readonly checks: readonly Check[];
  /** The terms of its hold while it is pending. */
  readonly pending: PendingRow | undefined;
  readonly approvals: readonly ApprovalRow[];
  /** The verdict of screening; null for an order that was not screened. */
  readonly screening: Screening | null;
  /** The instruction to the core, with its outcome; null if no core carries the transfer out. */
  readonly core: CoreInstructionRow | null;
  readonly entries: readonly ShownEntry[];
  readonly steps: readonly Step[];
}

/** Undefined if there is no such transfer. All reads see the database at one moment. */
export async function showTransfer(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  transferId: string,
): Promise<ShownTransfer | undefined> {
  const institution = await database.directory((db) => findInstitution(db, institutionId));
  if (institution === undefined) return undefined;
  return database.snapshot(institutionId, async (tx) => {
    const transfer = await selectTransferById(tx, transferId);
    if (transfer === undefined) return undefined;
    const { transferKey, fromKey, toKey, createdAt, clientId, operator } = transfer;
    const accountKeys = [fromKey, toKey].filter((key) => key !== null);
    const [circumstances, [pending], approvals, screening, core, rows] = await Promise.all([
      selectCircumstances(tx, transferKey),
      selectPending(tx, [transferId]),
      selectApprovals(tx, transferKey),
      selectScreeningOf(tx, transferKey),
      selectCoreInstruction(tx, transferKey),
      selectEntriesOfTransfer(tx, { accountKeys, transferKey, createdAt }),
    ]);
    const entries = rows.map((row) => ({
      accountId: row.accountKey === fromKey ? transfer.fromAccountId : transfer.toAccountId,
      seq: row.seq,
      kind: row.kind,
      amountMinor: row.amount,
      postedAfterMinor: row.postedAfter,
      debitsPendingAfterMinor: row.debitsPendingAfter,
      creditsPendingAfterMinor: row.creditsPendingAfter,
      recordedAt: row.recordedAt,
    }));
    const { userId, requestId, settledAt } = circumstances;
    const steps = stepsOf({ transfer, settledAt, pending, approvals, core, entries });
    const facts = { clientId, userId, operator, requestId, settledAt, pending, approvals, screening, core };
    const { timeZone, clockAheadSeconds } = institution;
    const period = { timeZone, aheadMillis: Number(clockAheadSeconds) * 1000, now: clock() };
    const stored = { transfer, entries: rows, pending, approvals, screening, core };
    const checks = checksOf({ ...stored, ...(await readDecision(tx, transfer, period)) });
    return { transferKey, transfer, ...facts, checks, entries, steps };
  });
}

/** The circumstances of a decision, as of its moment. */
async function readDecision(
  db: Queryable,
  transfer: TransferRow,
  {
    timeZone,
    aheadMillis,
    now,
  }: { readonly timeZone: string; readonly aheadMillis: number; readonly now: Date },
): Promise<Pick<Decision, 'timeZone' | 'rules' | 'usages' | 'counted' | 'balances' | 'signIn'>> {
  const { transferKey, fromKey, toKey, createdAt: at, currencyCode: currency } = transfer;
  const startOf = (day: string) => instantOf(day, '00:00', timeZone);
  const periodStart = startOf(periodStartOf('MONTH', localDate(at, timeZone)));
  const [signIn, rules, from, balances] = await Promise.all([
    selectSignInOf(db, transferKey),
    readRulesThen(db, { at, periodStart, aheadMillis }, now),
    fromKey === null ? undefined : selectSource(db, fromKey),
    transfer.status === 'FAILED'
      ? selectBalancesBefore(
          db,
          [fromKey, toKey].filter((key) => key !== null),
          at,
        )
      : [],
  ]);
  const usages = rules && from ? usagesThen(transfer, from, { rules, timeZone }) : [];
  const asked = usages.filter(Counters.counts).flatMap((usage) => {
    const limit = rules?.limits.find(({ limitKey }) => limitKey === usage.limitKey);
    const since = rules?.countedFrom(usage.limitKey) ?? startOf(usage.periodStart);
    return limit ? [{ usage, limit, since: maxOf(since, startOf(usage.periodStart)) }] : [];
  });
  const counted = await selectCountedBefore(db, asked, { at, transferKey, currency });
  return { timeZone, rules, usages, counted, balances, signIn };
}

function maxOf(one: Date, other: Date): Date {
  return one > other ? one : other;
}

const outcomeOfCore = {
  OPEN: 'instruction is open',
  ACCEPTED: 'accepted by the core',
  REJECTED: 'refused by the core',
  WITHDRAWN: 'instruction withdrawn',
} as const satisfies Readonly<Record<CoreInstructionRow['state'], string>>;

function stepsOfCore({ state, issuedAt, deliveredAt, decidedAt }: CoreInstructionRow) {
  return [
    { at: issuedAt, step: 'instruction to the core issued' },
    ...(deliveredAt === null ? [] : [{ at: deliveredAt, step: 'fetched for the core' }]),
    ...(decidedAt === null ? [] : [{ at: decidedAt, step: outcomeOfCore[state] }]),
  ];
}

const stepOfKind: Readonly<Record<string, string>> = {
  HOLD: 'held on both accounts',
  RELEASE: 'hold released',
  TRANSFER: 'posted on both accounts',
};

function stepsOf({
  transfer,
  settledAt,
  pending,
  approvals,
  core,
  entries,
}: Pick<ShownTransfer, 'transfer' | 'settledAt' | 'pending' | 'approvals' | 'core' | 'entries'>): Step[] {
  const moments = [{ at: transfer.createdAt, step: 'decided' }];
  // The two entries of a kind are recorded together, except on an account that is ahead of the clock.
  for (const [kind, together] of Map.groupBy(entries, (entry) => entry.kind)) {
    const [{ recordedAt }] = together as [ShownEntry];
    moments.push({ at: recordedAt, step: stepOfKind[kind] ?? kind });
  }
  for (const { operator, approvedAt } of approvals)
    moments.push({ at: approvedAt, step: `approved by ${operator}` });
  if (core !== null) moments.push(...stepsOfCore(core));
  if (settledAt !== null) moments.push({ at: settledAt, step: transfer.status });
  if (pending !== undefined) {
    if (pending.notBefore !== null) moments.push({ at: pending.notBefore, step: 'does not post earlier' });
    moments.push({ at: pending.dueAt, step: pending.whenDue === 'POST' ? 'due: posts' : 'due: expires' });
  }
  const inOrder = moments.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return inOrder.map((moment, at) => {
    const before = inOrder[at - 1];
    return {
      ...moment,
      afterMillis: before === undefined ? null : moment.at.getTime() - before.at.getTime(),
    };
  });
}
