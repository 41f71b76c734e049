import { type Queryable, sql } from '../../storage/index.ts';
import type { OperatorRole } from '../access/rights.ts';

/** The roles that each group of the provider gives. */
export type GroupRoles = Readonly<Record<string, readonly OperatorRole[]>>;

/** The OpenID provider at which the operators of an institution sign in. */
export interface ProviderRow {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: private_key_jwt. */
  readonly sealedSecret: Buffer | null;
  readonly scope: string;
  readonly groupClaim: string;
  readonly mayBeInside: boolean;
}

const text = `select issuer, client_id, sealed_secret, scope, group_claim, may_be_inside from operator_providers
   where institution_id = $1`;
const one = sql('access_provider', text);
const locked = sql('access_lock_provider', `${text} for update`);

export async function selectProvider(db: Queryable): Promise<ProviderRow | undefined> {
  return (await db.query<ProviderRow>(one, [db.institutionId])).rows[0];
}

export async function lockProvider(tx: Queryable): Promise<ProviderRow | undefined> {
  return (await tx.query<ProviderRow>(locked, [tx.institutionId])).rows[0];
}

const groups = sql(
  'access_provider_groups',
  `select group_name, role from operator_provider_groups where institution_id = $1 order by group_name, role`,
);

export async function selectGroupRoles(db: Queryable): Promise<GroupRoles> {
  const { rows } = await db.query<{ groupName: string; role: OperatorRole }>(groups, [db.institutionId]);
  const byGroup = Map.groupBy(rows, ({ groupName }) => groupName);
  return Object.fromEntries([...byGroup].map(([name, given]) => [name, given.map(({ role }) => role)]));
}

const save = sql(
  'access_save_provider',
  `insert into operator_providers (institution_id, issuer, client_id, sealed_secret, scope, group_claim, may_be_inside)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (institution_id) do update
   set issuer = excluded.issuer, client_id = excluded.client_id, sealed_secret = excluded.sealed_secret,
       scope = excluded.scope, group_claim = excluded.group_claim, may_be_inside = excluded.may_be_inside`,
);

export async function upsertProvider(tx: Queryable, row: ProviderRow): Promise<void> {
  const { issuer, clientId, sealedSecret, scope, groupClaim, mayBeInside } = row;
  await tx.query(save, [tx.institutionId, issuer, clientId, sealedSecret, scope, groupClaim, mayBeInside]);
}

const dropGroups = sql(
  'access_drop_provider_groups',
  'delete from operator_provider_groups where institution_id = $1',
);
const addGroups = sql(
  'access_add_provider_groups',
  `insert into operator_provider_groups (institution_id, group_name, role)
   select $1, given.group_name, given.role from unnest($2::text[], $3::text[]) as given (group_name, role)`,
);

export async function replaceGroupRoles(tx: Queryable, groupRoles: GroupRoles): Promise<void> {
  await tx.query(dropGroups, [tx.institutionId]);
  const pairs = Object.entries(groupRoles).flatMap(([name, roles]) =>
    roles.map((role) => [name, role] as const),
  );
  const [names, roles] = [pairs.map(([name]) => name), pairs.map(([, role]) => role)];
  await tx.query(addGroups, [tx.institutionId, names, roles]);
}

const remove = sql('access_delete_provider', 'delete from operator_providers where institution_id = $1');

export async function deleteProvider(tx: Queryable): Promise<void> {
  await tx.query(dropGroups, [tx.institutionId]);
  await tx.query(remove, [tx.institutionId]);
}

const endSessions = sql(
  'access_end_provider_sessions',
  `update operator_sessions set ended_at = $2 where institution_id = $1 and method = 'provider' and ended_at is null`,
);

/** Ends every session that the provider vouched for. */
export async function endProviderSessions(tx: Queryable, at: Date): Promise<void> {
  await tx.query(endSessions, [tx.institutionId, at]);
}
