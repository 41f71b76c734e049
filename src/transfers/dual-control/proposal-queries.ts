import { nameOf, type Operator } from '../../events/index.ts';
import { counted, type Queryable, sql } from '../../storage/index.ts';

export type ProposalKind = 'REVERSAL' | 'RULES' | 'ADJUSTMENT';

/** The amount that an adjustment adds to an account. */
export interface ProposedMoney {
  readonly accountId: string;
  readonly currency: string;
  readonly amountMinor: bigint;
}

/** The act that two persons agree on. An adjustment has its money, which a comparison may change; all else is fixed by the subject. */
export type ProposedAct =
  | {
      readonly kind: Exclude<ProposalKind, 'ADJUSTMENT'>;
      readonly subject: string;
      readonly money?: undefined;
    }
  | { readonly kind: 'ADJUSTMENT'; readonly subject: string; readonly money: ProposedMoney };

/** An act that one person proposed and that has not expired. */
export interface Proposal {
  readonly proposalKey: bigint;
  readonly kind: ProposalKind;
  readonly subject: string;
  /** Null, as the next two, unless it is an adjustment. */
  readonly accountId: string | null;
  readonly currency: string | null;
  readonly amountMinor: bigint | null;
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

const columns = `proposal_key, kind, subject, account_id, currency, amount as amount_minor, proposed_at, expires_at,
  array_remove(array[proposed_by, proposed_sudo], null) as proposed_by,
  case when confirmed_by is not null then array_remove(array[confirmed_by, confirmed_sudo], null) end as confirmed_by`;

const current = sql(
  'transfers_proposals_of',
  `select ${columns} from proposals
   where institution_id = $1 and kind = $2 and subject = $3 and expires_at > $4
     and account_id is not distinct from $5 and currency is not distinct from $6 and amount is not distinct from $7
   order by proposal_key for update`,
);

/** Locks the unexpired proposals of one act: of two simultaneous confirmations, the second finds it confirmed. */
export async function selectProposalsForUpdate(
  tx: Queryable,
  { kind, subject, money }: ProposedAct,
  now: Date,
): Promise<Proposal[]> {
  const values = [tx.institutionId, kind, subject, now, ...valuesOf(money)];
  return (await tx.query<Proposal>(current, values)).rows;
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
  `insert into proposals (institution_id, kind, subject, proposed_by, proposed_sudo, proposed_at, expires_at, account_id, currency, amount)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

export async function insertProposal(
  tx: Queryable,
  { kind, subject, money }: ProposedAct,
  { by, proposedAt, expiresAt }: Pick<Proposal, 'proposedAt' | 'expiresAt'> & { readonly by: Operator },
): Promise<void> {
  await tx.query(propose, [
    ...[tx.institutionId, kind, subject, nameOf(by), by.sudoUser ?? null, proposedAt, expiresAt],
    ...valuesOf(money),
  ]);
}

function valuesOf(money: ProposedMoney | undefined) {
  return [money?.accountId ?? null, money?.currency ?? null, money?.amountMinor ?? null];
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
