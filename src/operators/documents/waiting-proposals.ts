import { type CommandOrigin, namesOf, shareAPerson } from '../../events/index.ts';
import type { Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { fingerprintOfDay, formatMinor, listProposals, type Proposal } from '../../transfers/index.ts';
import type { Right } from '../access/rights.ts';
import { selectStandingDifferences } from './difference-queries.ts';
import { type ProposalFacts, type RulesOfEntry, selectProposalFacts } from './proposal-queries.ts';

/** An operator who may confirm acts of others. */
export interface Confirmer {
  readonly origin: CommandOrigin;
  may(right: Right): boolean;
}

/** A change of rules: the days by themselves, the others by their names. `open` null ends an exception. */
interface ProposedChange {
  readonly days: readonly { readonly day: string; readonly open: boolean | null }[];
  readonly policies: readonly string[];
  readonly limits: readonly string[];
  readonly contributionLimits: readonly string[];
}

/** The acts that wait for a second person, the oldest first, in words that this person can judge. Amounts are decimal text. */
export async function proposalDocuments(
  database: Database,
  institutionId: InstitutionId,
  { now, confirmer }: { readonly now: Date; readonly confirmer?: Confirmer | undefined },
) {
  const proposals = await listProposals(database, institutionId, now);
  if (proposals.length === 0) return [];
  return database.read(institutionId, async (db) => {
    const [standing, facts] = await Promise.all([
      confirmable(db, proposals),
      selectProposalFacts(db, proposals),
    ]);
    return Promise.all(
      standing.map(async (proposal) => {
        const { proposalKey, kind, subject, proposedBy, proposedAt, expiresAt } = proposal;
        const known = facts.get(proposalKey);
        const change = kind === 'RULES' && known?.before && known.after ? changeOf(known) : null;
        return {
          kind: 'proposal' as const,
          id: subject,
          type: kind,
          ...moneyOf(proposal, known),
          ...(change !== null && { change }),
          proposedBy: proposedBy[0] ?? '',
          proposedAt,
          expiresAt,
          reason: known?.statedReason ?? null,
          ...(confirmer && { mayConfirm: await mayConfirm(db, { proposal, change, confirmer }) }),
        };
      }),
    );
  });
}

function moneyOf({ accountId, currency, amountMinor }: Proposal, known: ProposalFacts | undefined) {
  if (accountId !== null && currency !== null && amountMinor !== null)
    return { accountId, amount: formatMinor(amountMinor, currency), currencyCode: currency };
  if (known === undefined) return {};
  const { fromAccountId, toAccountId, amount, currency: currencyCode } = known;
  if (fromAccountId === null || toAccountId === null || amount === null || currencyCode === null) return {};
  return { fromAccountId, toAccountId, amount: formatMinor(amount, currencyCode), currencyCode };
}

/** Without the adjustments of a difference that the break no longer has: nobody can confirm them. */
async function confirmable(db: Queryable, proposals: readonly Proposal[]): Promise<readonly Proposal[]> {
  const breakKeys = proposals.flatMap(({ kind, subject }) =>
    kind === 'ADJUSTMENT' ? [BigInt(subject)] : [],
  );
  if (breakKeys.length === 0) return proposals;
  const standing = await selectStandingDifferences(db, breakKeys);
  return proposals.filter(
    ({ kind, subject, amountMinor }) =>
      kind !== 'ADJUSTMENT' || (amountMinor !== null && standing.get(BigInt(subject)) === amountMinor),
  );
}

function changeOf({ before, after }: ProposalFacts): ProposedChange {
  const [was, becomes] = [before ?? {}, after ?? {}];
  const names = (kind: keyof RulesOfEntry, nameOf: (row: Record<string, unknown>) => string) => {
    const rows = [...(was[kind] ?? []), ...(becomes[kind] ?? [])];
    return [...new Set(rows.map(nameOf))].toSorted();
  };
  const later = new Map((becomes.businessDays ?? []).map(({ day, open }) => [String(day), open === true]));
  return {
    days: names('businessDays', ({ day }) => String(day)).map((day) => ({
      day,
      open: later.get(day) ?? null,
    })),
    policies: names('policies', ({ transferType, currency }) => `${transferType} ${currency}`),
    limits: names('limits', ({ limitKey }) => String(limitKey)),
    contributionLimits: names('contributionLimits', ({ taxYear }) => String(taxYear)),
  };
}

interface Question {
  readonly proposal: Proposal;
  readonly change: ProposedChange | null;
  readonly confirmer: Confirmer;
}

/** Whether the same act of this person, by an operation, would confirm the proposal. Rules come from files of the command line, but a day. */
async function mayConfirm(
  db: Queryable,
  { proposal: { kind, subject, proposedBy }, change, confirmer: { origin, may } }: Question,
): Promise<boolean> {
  if (shareAPerson(proposedBy, namesOf(origin.operator))) return false;
  if (kind !== 'RULES') return may('transfers:decide');
  const [day, ...others] = change?.days ?? [];
  const isDay = day !== undefined && others.length === 0;
  // The rules may have changed since: then the day is another change of rules.
  return isDay && may('institution:change') && (await fingerprintOfDay(db, day)) === subject;
}
