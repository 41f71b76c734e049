import { nameOf, type Operator } from '../../events/index.ts';
import { counted, type Queryable, sql } from '../../storage/index.ts';

export type ProposalKind = 'REVERSAL' | 'RULES' | 'ADJUSTMENT';

/** An act that one person proposed and that has not expired. */
export interface Proposal {
  readonly proposalKey: bigint;
  readonly kind: ProposalKind;
  readonly subject: string;
  /** The names of the person, as `namesOf` has them. */
  readonly proposedBy: readonly string[];
  readonly proposedAt: Date;
  readonly expiresAt: Date;
  /** Null: no second person has confirmed it. */
  readonly confirmedBy: readonly string[] | null;
}

const dualControl = sql('transfers_dual_control', 'select requires_dual_control($1) as is_on');

export async function selectDualControl(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ isOn: boolean }>(dualControl, [db.institutionId]);
  return rows[0]?.isOn === true;
}

const columns = `proposal_key, kind, subject, proposed_at, expires_at,
  array_remove(array[proposed_by, proposed_sudo], null) as proposed_by,
  case when confirmed_by is not null then array_remove(array[confirmed_by, confirmed_sudo], null) end as confirmed_by`;

const current = sql(
  'transfers_proposals_of',
  `select ${columns} from proposals
   where institution_id = $1 and kind = $2 and subject = $3 and expires_at > $4
   order by proposal_key for update`,
);

/** Locks the unexpired proposals on one subject: of two simultaneous confirmations, the second finds it confirmed. */
export async function selectProposalsForUpdate(
  tx: Queryable,
  about: { readonly kind: ProposalKind; readonly subject: string },
  now: Date,
): Promise<Proposal[]> {
  return (await tx.query<Proposal>(current, [tx.institutionId, about.kind, about.subject, now])).rows;
}

const open = sql(
  'transfers_open_proposals',
  `select ${columns} from proposals
   where institution_id = $1 and confirmed_at is null and expires_at > $2
   order by proposal_key limit 1000`,
);

export async function selectOpenProposals(db: Queryable, now: Date): Promise<Proposal[]> {
  return (await db.query<Proposal>(open, [db.institutionId, now])).rows;
}

const propose = counted(
  'transfers_propose',
  'proposals',
  '1',
  `insert into proposals (institution_id, kind, subject, proposed_by, proposed_sudo, proposed_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertProposal(
  tx: Queryable,
  proposal: Pick<Proposal, 'kind' | 'subject' | 'proposedAt' | 'expiresAt'> & { readonly by: Operator },
): Promise<void> {
  const { kind, subject, proposedAt, expiresAt, by } = proposal;
  await tx.query(propose, [
    tx.institutionId,
    kind,
    subject,
    nameOf(by),
    by.sudoUser ?? null,
    proposedAt,
    expiresAt,
  ]);
}

const confirm = counted(
  'transfers_confirm',
  'proposals',
  '1',
  `update proposals set confirmed_by = $3, confirmed_sudo = $4, confirmed_at = $5
   where institution_id = $1 and proposal_key = $2`,
);

/** The database refuses a person who shares a name with the one who proposed it, and a second confirmation. */
export async function confirmProposal(
  tx: Queryable,
  { proposalKey, by, at }: { readonly proposalKey: bigint; readonly by: Operator; readonly at: Date },
): Promise<void> {
  await tx.query(confirm, [tx.institutionId, proposalKey, nameOf(by), by.sudoUser ?? null, at]);
}
