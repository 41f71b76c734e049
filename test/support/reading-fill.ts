import { markEventNumbers } from '../../src/events/index.ts';
import type { ClientActor, Institution, MemberActor } from '../../src/institutions/index.ts';
import { aClient, aHolder, aMember, anAccount, anInstitution, type PlantedAccount } from './builders.ts';
import type { TestDatabase } from './database.ts';
import { asSuperuser } from './postgres.ts';

/** An institution with the given number of transfers, their entries and events; one member has a tenth of them. */
export interface Filled {
  readonly institution: Institution;
  readonly client: ClientActor;
  readonly member: MemberActor;
  /** The member's own account and a joint one: each pays a tenth of all transfers. */
  readonly own: PlantedAccount;
  readonly joint: PlantedAccount;
  /** Another member's account, which receives a seventh of all transfers. */
  readonly shop: PlantedAccount;
  readonly transfers: number;
  /** The first transfer is a second after this, the next another second later. */
  readonly start: Date;
}

const start = new Date('2024-01-01T00:00:00Z');
/** The feed reads below running transactions: invented events must be below them in any cluster. */
const transactionNumbers = 500;

/**
 * Rows like those after the given number of transfers, made in the database without policies and triggers: through
 * the service it would take an hour. Values that plans do not depend on (names, sums) are invented.
 */
export async function fill(db: TestDatabase, transfers: number): Promise<Filled> {
  const { database } = db;
  const institution = await anInstitution(database);
  const heavy = await aMember(database, institution);
  const other = await aMember(database, institution);
  const own = await anAccount(database, heavy);
  const joint = await anAccount(database, heavy);
  const shop = await anAccount(database, other);
  await aHolder(database, own, heavy.person);
  await aHolder(database, joint, heavy.person);
  await aHolder(database, joint, other.person);
  await aHolder(database, shop, other.person);

  const { institutionId } = institution;
  const keys = [heavy.user.userKey, other.user.userKey, own.accountKey, joint.accountKey, shop.accountKey];
  // One transfer of ten leaves the member's own account and one the joint one, ordered by the other holder; the
  // others are between 5,000 accounts. One in twenty fails, one in a thousand is pending, one in five hundred has a
  // rare type.
  const made = `
    select i as transfer_key, timestamptz '${start.toISOString()}' + i * interval '1 second' as created_at,
           case i % 10 when 0 then ${keys[2]} when 1 then ${keys[3]}
                else 1000000 + (i * 7919::bigint) % 5000 end as from_key,
           case when i % 30 = 0 then ${keys[3]} when i % 7 = 0 then ${keys[4]} when i % 110 = 55 then ${keys[2]}
                else 1000000 + (i * 104729::bigint + 1) % 5000 end as to_key,
           case i % 10 when 0 then ${keys[0]} when 1 then ${keys[1]} when 2 then null
                else 1000000 + i % 2500 end as user_key,
           case when i % 1000 in (500, 501) then 'PENDING' when i % 60 in (10, 43, 51) then 'FAILED'
                else 'COMPLETED' end as status,
           case when i % 500 = 130 then 'IRA_CONTRIBUTION' when i % 4 = 0 then 'STANDARD' else 'INTRA_FI' end as type
    from generate_series(1::bigint, ${transfers}) i`;
  await asSuperuser(db.connection, async (client) => {
    // Vacuum and statistics of a moment of its own choice would change plans and costs between two runs.
    await client.query(autovacuumOff);
    await client.query('set session_replication_role = replica');
    const restoreIndexes = await withoutIndexes(client);
    await client.query(`
      insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                             from_key, to_key, amount, currency, status, failure_code, failure_detail, client_id,
                             user_key, created_at, settled_at)
      select ${institutionId}, transfer_key, 't-' || transfer_key, type, 'a-' || from_key, 'a-' || to_key, from_key,
             to_key, 100, 'USD', status, case status when 'FAILED' then 'insufficient_funds' end,
             case status when 'FAILED' then 'Less available.' end, 'app', user_key, created_at,
             case when status <> 'PENDING' then created_at end
      from (${made}) made;
      insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after,
                           credits_pending_after, recorded_at)
      select ${institutionId}, account_key, row_number() over (partition by account_key order by transfer_key),
             transfer_key, case status when 'PENDING' then 'HOLD' else 'TRANSFER' end,
             case status when 'PENDING' then 0 else amount end, 0, 0, 0, created_at
      from (select m.*, from_key as account_key, -100 as amount from (${made}) m where status <> 'FAILED'
            union all
            select m.*, to_key, 100 from (${made}) m where status <> 'FAILED') sides;
      update balances b set seq = e.seq, last_at = e.at
      from (select account_key, max(seq) as seq, max(recorded_at) as at from entries
            where institution_id = ${institutionId} group by account_key) e
      where b.institution_id = ${institutionId} and b.account_key = e.account_key;
      insert into outbox (institution_id, event_key, xid, kind, subject_key, from_key, from_seq, to_key, to_seq,
                          recorded_at)
      overriding system value
      select ${institutionId}, transfer_key, (3 + transfer_key * ${transactionNumbers} / ${transfers + 1})::text::xid8,
             'transfer.' || lower(status), transfer_key, from_key, 1, to_key, 1, created_at
      from (${made}) made`);
    await restoreIndexes();
    // Marks the pages as visible to all, as autovacuum does a minute after a fill: without it, index-only scans read the table.
    await client.query('vacuum transfers, entries, outbox, balances');
  });
  // The service does so each minute.
  while ((await database.write(institutionId, markEventNumbers)) > 0);
  return {
    institution,
    client: aClient(institution),
    member: heavy.user,
    own,
    joint,
    shop,
    transfers,
    start,
  };
}

const autovacuumOff = `
  do $$
  declare
    one regclass;
  begin
    for one in select c.oid from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' loop
      execute format('alter table %s set (autovacuum_enabled = false)', one);
    end loop;
  end
  $$`;

/** Indexes are created afterwards, which is faster, in their original order. */
export async function withoutIndexes(client: Parameters<Parameters<typeof asSuperuser>[1]>[0]) {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition from pg_index i
     where i.indrelid in ('transfers'::regclass, 'outbox'::regclass)
       and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
     order by i.indexrelid`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return async (order: 'as before' | 'reversed' = 'as before') => {
    const definitions = rows.map(({ definition }) => definition);
    for (const definition of order === 'reversed' ? definitions.toReversed() : definitions)
      await client.query(definition);
  };
}
