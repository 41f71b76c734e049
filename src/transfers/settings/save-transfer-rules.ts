import { createHash } from 'node:crypto';
import { appendAudit, type CommandOrigin, type Origin } from '../../events/index.ts';
import {
  type BusinessDay,
  type LocalDate,
  replaceBusinessDays,
  selectBusinessDays,
} from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId, Queryable, Transaction } from '../../storage/index.ts';
import { type Consent, consentOfTwo } from '../dual-control/dual-control.ts';
import { replaceLimits, selectLimits } from '../limits/limit-queries.ts';
import type { ContributionLimit } from '../rules/controls/contributions.ts';
import type { Limit } from '../rules/controls/limits.ts';
import type { Policy } from '../rules/controls/policies.ts';
import {
  replaceContributionLimits,
  replacePolicies,
  selectContributionLimits,
  selectPolicies,
} from './setting-queries.ts';

/** An institution's rules about transfers. Amounts are minor units. */
export interface TransferRules {
  readonly policies: readonly Policy[];
  readonly limits: readonly Limit[];
  readonly businessDays: readonly BusinessDay[];
  readonly contributionLimits: readonly ContributionLimit[];
}

/** Saved; or under dual control proposed, until another person saves the same rules. */
type SavedRules = { readonly kind: 'saved' } | Extract<Consent, { kind: 'proposed' }>;

/**
 * Replaces the rules. The new ones bind orders within a second in every process; a pending transfer keeps the terms of its
 * hold. A limit keeps its counters while it keeps its key. So a key that was used for another kind of limit throws
 * LimitKeyTakenError, and nothing is saved.
 */
export async function saveTransferRules(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { rules, origin }: { readonly rules: TransferRules; readonly origin: CommandOrigin | Origin },
): Promise<SavedRules> {
  return database.transaction(institutionId, async (tx) => {
    const before = await selectRules(tx);
    return replaceRules(tx, { before, rules, origin, at: clock() });
  });
}

/**
 * Opens or closes the institution on a day, against the calendar of the Federal Reserve; `open` null ends such an exception. The same
 * rules as for a change of all rules; a pending transfer keeps its day. `unchanged`: the calendar says so already.
 */
export async function changeBusinessDay(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    day,
    open,
    origin,
  }: { readonly day: LocalDate; readonly open: boolean | null; readonly origin: CommandOrigin },
): Promise<SavedRules | { readonly kind: 'unchanged' }> {
  return database.transaction(institutionId, async (tx) => {
    const before = await selectRules(tx);
    const known = before.businessDays.find((one) => one.day === day);
    if ((known?.open ?? null) === open) return { kind: 'unchanged' };
    return replaceRules(tx, { before, rules: withDay(before, { day, open }), origin, at: clock() });
  });
}

interface Replacement {
  readonly before: TransferRules;
  readonly rules: TransferRules;
  readonly origin: CommandOrigin | Origin;
  readonly at: Date;
}

async function replaceRules(
  tx: Transaction,
  { before, rules, origin, at }: Replacement,
): Promise<SavedRules> {
  const subject = fingerprintOf(rules);
  const about = { kind: 'RULES', subject } as const;
  const proposed = changeOf(before, rules);
  const consent = isCommand(origin) && (await consentOfTwo(tx, about, { origin, at, change: proposed }));
  if (consent && consent.kind === 'proposed') return consent;
  const [taken] = await replaceLimits(tx, rules.limits);
  if (taken !== undefined) throw new LimitKeyTakenError(taken);
  await replaceBusinessDays(tx, rules.businessDays);
  await replaceContributionLimits(tx, rules.contributionLimits);
  // Last, because the policies decide whether the database demands a second person.
  await replacePolicies(tx, rules.policies);
  const change = changeOf(before, await selectRules(tx));
  const entry = { action: 'transfer.rules_changed', outcome: 'succeeded', subject, origin } as const;
  await appendAudit(tx, { ...entry, ...change }, at);
  return { kind: 'saved' };
}

/** The service itself saves the rules of its demo, in a database without rules; the database refuses any others. */
function isCommand(origin: CommandOrigin | Origin): origin is CommandOrigin {
  return origin.operator !== undefined;
}

/** The subject of a proposal that opens or closes a day, as the rules stand now. */
export async function fingerprintOfDay(
  db: Queryable,
  { day, open }: { readonly day: LocalDate; readonly open: boolean | null },
): Promise<string> {
  return fingerprintOf(withDay(await selectRules(db), { day, open }));
}

function withDay(
  rules: TransferRules,
  { day, open }: { readonly day: LocalDate; readonly open: boolean | null },
): TransferRules {
  const others = rules.businessDays.filter((one) => one.day !== day);
  return { ...rules, businessDays: open === null ? others : [...others, { day, open }] };
}

async function selectRules(tx: Queryable): Promise<TransferRules> {
  const [policies, limits, businessDays, contributionLimits] = await Promise.all([
    selectPolicies(tx),
    selectLimits(tx),
    selectBusinessDays(tx),
    selectContributionLimits(tx),
  ]);
  return { policies, limits, businessDays, contributionLimits };
}

/** The removed and the added rows of each kind. */
function changeOf(before: TransferRules, after: TransferRules) {
  const only = (rules: TransferRules, others: TransferRules) =>
    Object.fromEntries(
      (Object.keys(rules) as (keyof TransferRules)[]).flatMap((kind) => {
        const known = new Set(others[kind].map(asSortedText));
        const rows = rules[kind].filter((row) => !known.has(asSortedText(row)));
        return rows.length === 0 ? [] : [[kind, rows] as const];
      }),
    );
  return { before: only(before, after), after: only(after, before) };
}

/** Does not depend on the order of the rows. */
function fingerprintOf(rules: TransferRules): string {
  const kinds = ['policies', 'limits', 'businessDays', 'contributionLimits'] as const;
  const rows = kinds.map((kind) => rules[kind].map(asText).sort());
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

function asText(row: object): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** Does not depend on the order of the members, which differs between a file and the database. */
function asSortedText(row: object): string {
  return asText(sorted(row));
}

function sorted(value: object): object {
  if (Array.isArray(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    members.map(([name, one]) => [name, typeof one === 'object' && one !== null ? sorted(one) : one]),
  );
}

/** A counter of a user must not count for a membership that has the same key, nor a daily counter for a month. */
export class LimitKeyTakenError extends Error {
  override readonly name = 'LimitKeyTakenError';
  constructor(limitKey: number) {
    super(
      `limit_key ${limitKey} has counted something else until now: give the limit a number that was never used. Nothing was saved.`,
    );
  }
}
