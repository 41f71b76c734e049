import { type Queryable, sql } from '../../storage/index.ts';
import type { Proposal } from '../../transfers/index.ts';

/** The removed or the added rows of rules, as the audit has them. */
export type RulesOfEntry = Readonly<Record<string, readonly Record<string, unknown>[]>>;

/** The audit entry of a proposal, and the transfer of a reversal. */
export interface ProposalFacts {
  readonly proposalKey: bigint;
  readonly statedReason: string | null;
  readonly before: RulesOfEntry | null;
  readonly after: RulesOfEntry | null;
  readonly fromAccountId: string | null;
  readonly toAccountId: string | null;
  readonly amount: bigint | null;
  readonly currency: string | null;
}

const facts = sql(
  'documents_proposal_facts',
  `select p.proposal_key, e.stated_reason, e.before, e.after, t.from_account_id, t.to_account_id, t.amount, t.currency
   from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as p (proposal_key, kind, subject, proposed_by)
   left join lateral (
     select a.stated_reason, a.after_change -> 'change' -> 'before' as before, a.after_change -> 'change' -> 'after' as after from audit_entries a
     where a.institution_id = $1 and a.subject = p.subject and a.outcome = 'succeeded' and coalesce(a.operator_as, a.operator) = p.proposed_by
       and a.action = case p.kind when 'REVERSAL' then 'transfer.reversal_proposed' when 'RULES' then 'transfer.rules_proposed'
                                  else 'core.adjustment_proposed' end
     order by a.audit_key desc limit 1
   ) e on true
   left join idempotency_keys i on i.institution_id = $1 and i.transfer_id = p.subject and p.kind = 'REVERSAL'
   left join transfers t on t.institution_id = $1 and t.transfer_key = i.transfer_key`,
);

export async function selectProposalFacts(
  db: Queryable,
  proposals: readonly Pick<Proposal, 'proposalKey' | 'kind' | 'subject' | 'proposedBy'>[],
): Promise<Map<bigint, ProposalFacts>> {
  const { rows } = await db.query<ProposalFacts>(facts, [
    db.institutionId,
    proposals.map(({ proposalKey }) => proposalKey),
    proposals.map(({ kind }) => kind),
    proposals.map(({ subject }) => subject),
    proposals.map(({ proposedBy: [name = ''] }) => name),
  ]);
  return new Map(rows.map((row) => [row.proposalKey, row]));
}
