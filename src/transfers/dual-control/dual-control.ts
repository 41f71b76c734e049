import {
  type AuditAction,
  appendAudit,
  type CommandOrigin,
  nameOf,
  namesOf,
  shareAPerson,
} from '../../events/index.ts';
import type { Database, InstitutionId, Transaction } from '../../storage/index.ts';
import {
  confirmProposal,
  insertProposal,
  type Proposal,
  type ProposalKind,
  type ProposedAct,
  type ProposedMoney,
  selectDualControl,
  selectOpenProposals,
  selectProposalsForUpdate,
} from './proposal-queries.ts';

/** Whether an act may proceed. */
export type Consent =
  /** `proposedBy`: the first of two persons; undefined if one is enough. */
  | { readonly kind: 'agreed'; readonly proposedBy: readonly string[] | undefined }
  /** Nothing is done yet: another system user must run the same command before it expires. */
  | { readonly kind: 'proposed'; readonly proposedBy: string; readonly expiresAt: Date };

const lifetimeMillis = 72 * 60 * 60_000;

const actions = {
  REVERSAL: { proposed: 'transfer.reversal_proposed', confirmed: 'transfer.reversal_confirmed' },
  RULES: { proposed: 'transfer.rules_proposed', confirmed: 'transfer.rules_confirmed' },
  ADJUSTMENT: { proposed: 'core.adjustment_proposed', confirmed: 'core.adjustment_confirmed' },
} as const satisfies Record<ProposalKind, Record<'proposed' | 'confirmed', AuditAction>>;

/**
 * Dual control, in the caller's transaction. It is on if a policy of the institution names a second approval. The first
 * person's act becomes a proposal, and the same act by another system user confirms it. The caller commits in both cases.
 *
 * An adjustment of another amount is another act: it finds no proposal, and becomes one.
 *
 * A reversal that two persons agreed on may be tried again by either of them until the proposal expires. Rules are changed and
 * breaks are adjusted in the very transaction that confirms it; the database refuses all of them otherwise.
 */
export async function consentOfTwo(
  tx: Transaction,
  about: ProposedAct,
  {
    origin,
    at,
    change,
  }: {
    readonly origin: CommandOrigin;
    readonly at: Date;
    /** The rows that a change of rules removes and adds: the second person reads them in the audit entry. */
    readonly change?: object;
  },
): Promise<Consent> {
  if (!(await selectDualControl(tx))) return { kind: 'agreed', proposedBy: undefined };
  const names = namesOf(origin.operator);
  const mine = (persons: readonly string[]) => shareAPerson(persons, names);
  const proposals = await selectProposalsForUpdate(tx, about, at);
  const record = (step: 'proposed' | 'confirmed', facts: object) => {
    const after = { ...auditedMoney(about.money), ...facts };
    const entry = { action: actions[about.kind][step], outcome: 'succeeded', origin, after } as const;
    return appendAudit(tx, { ...entry, subject: about.subject }, at);
  };

  // One of the two persons, by the name in the proposal; the database compares the same name.
  const agreed = proposals.find(
    ({ proposedBy: [first = ''], confirmedBy }) =>
      confirmedBy !== null && shareAPerson([first, ...confirmedBy.slice(0, 1)], [nameOf(origin.operator)]),
  );
  if (about.kind === 'REVERSAL' && agreed) return { kind: 'agreed', proposedBy: agreed.proposedBy };

  const open = proposals.filter(({ confirmedBy }) => confirmedBy === null);
  const others = open.find(({ proposedBy }) => !mine(proposedBy));
  if (others !== undefined) {
    const { proposalKey, proposedBy } = others;
    await confirmProposal(tx, { proposalKey, by: origin.operator, at });
    await record('confirmed', { proposedBy });
    return { kind: 'agreed', proposedBy };
  }
  const content = change && { change };
  const [own] = open;
  if (own !== undefined) {
    const { expiresAt, proposedBy } = own;
    await record('proposed', { expiresAt, proposedBy, ...content });
    return { kind: 'proposed', proposedBy: proposedBy[0] ?? '', expiresAt };
  }
  const expiresAt = new Date(at.getTime() + lifetimeMillis);
  await insertProposal(tx, about, { by: origin.operator, proposedAt: at, expiresAt });
  await record('proposed', { expiresAt, ...content });
  return { kind: 'proposed', proposedBy: nameOf(origin.operator), expiresAt };
}

function auditedMoney(money: ProposedMoney | undefined) {
  return money && { ...money, amountMinor: String(money.amountMinor) };
}

/** The proposals that wait for a second person, the oldest first. */
export function listProposals(
  database: Database,
  institutionId: InstitutionId,
  now: Date,
): Promise<Proposal[]> {
  return database.read(institutionId, (db) => selectOpenProposals(db, now));
}
