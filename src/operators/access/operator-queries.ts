import { type Queryable, sql } from '../../storage/index.ts';
import type { OperatorRole } from './rights.ts';

type OperatorStatus = 'INVITED' | 'ACTIVE' | 'SUSPENDED' | 'ENDED';
type OperatorSource = 'INVITATION' | 'PROVIDER' | 'DEMO';

export interface OperatorRow {
  readonly operatorId: string;
  readonly name: string;
  /** Null unless the operator was invited. */
  readonly email: string | null;
  readonly roles: readonly OperatorRole[];
  readonly status: OperatorStatus;
  readonly source: OperatorSource;
  readonly createdAt: Date;
}

const columns = 'operator_id, name, email, roles, status, source, created_at';

const byId = sql(
  'access_operator',
  `select ${columns} from operators where institution_id = $1 and operator_id = $2 for update`,
);

/** Locks the row: of two changes at once, the second sees the first. */
export async function lockOperator(tx: Queryable, operatorId: string): Promise<OperatorRow | undefined> {
  return (await tx.query<OperatorRow>(byId, [tx.institutionId, operatorId])).rows[0];
}

const byName = sql(
  'access_operator_by_name',
  `select ${columns} from operators where institution_id = $1 and fold_name(name) = fold_name($2)`,
);

export async function selectOperatorByName(db: Queryable, name: string): Promise<OperatorRow | undefined> {
  return (await db.query<OperatorRow>(byName, [db.institutionId, name])).rows[0];
}

/** A person as a provider names them: subjects of two providers have nothing in common (OpenID Connect Core 1.0 section 5.7). */
interface ProviderSubject {
  readonly issuer: string;
  readonly subject: string;
}

const bySubject = sql(
  'access_operator_by_subject',
  `select ${columns} from operators
   where institution_id = $1 and provider_issuer = $2 and provider_subject = $3 for update`,
);

export async function lockOperatorBySubject(
  tx: Queryable,
  { issuer, subject }: ProviderSubject,
): Promise<OperatorRow | undefined> {
  return (await tx.query<OperatorRow>(bySubject, [tx.institutionId, issuer, subject])).rows[0];
}

const all = sql(
  'access_operators',
  `select ${columns} from operators where institution_id = $1 order by name, operator_id limit 1000`,
);

export async function selectOperators(db: Queryable): Promise<OperatorRow[]> {
  return (await db.query<OperatorRow>(all, [db.institutionId])).rows;
}

const insert = sql(
  'access_insert_operator',
  `insert into operators (institution_id, operator_id, name, email, roles, status, source, provider_issuer, provider_subject, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   on conflict do nothing`,
);

/** False if the name, one that looks like it, or the address is taken. */
export async function insertOperator(
  tx: Queryable,
  row: OperatorRow & { readonly provider?: ProviderSubject },
): Promise<boolean> {
  const { operatorId, name, email, roles, status, source, provider, createdAt } = row;
  const values = [tx.institutionId, operatorId, name, email, roles, status, source];
  return (
    (await tx.query(insert, [...values, provider?.issuer ?? null, provider?.subject ?? null, createdAt]))
      .rowCount === 1
  );
}

const update = sql(
  'access_update_operator',
  'update operators set roles = $3, status = $4 where institution_id = $1 and operator_id = $2',
);

export async function updateOperator(
  tx: Queryable,
  { operatorId, roles, status }: Pick<OperatorRow, 'operatorId' | 'roles' | 'status'>,
): Promise<void> {
  await tx.query(update, [tx.institutionId, operatorId, roles, status]);
}
