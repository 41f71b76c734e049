import type { TestDatabase } from './database.ts';

/** Written behind a commit by background work: the sealer of the audit trail, the derivation of alerts, marks of the feed. */
const behindCommits = {
  tables: ['alerts', 'alert_positions', 'audit_chains', 'event_marks'],
  columns: ['chain', 'chain_number', 'chain_hash', 'personal_hash', 'personal_salt', 'sealed_at'],
};

/**
 * Every tenant table and the directory, row by row, in a fixed order: equal dumps mean that no request has changed
 * anything. Background work may still be busy with what earlier requests changed, so its tables and columns are left out.
 */
export async function dumpTables(
  db: TestDatabase,
  { except = [] }: { readonly except?: readonly string[] } = {},
): Promise<Record<string, string[]>> {
  const tables = await db.superuser<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> all ($1) order by relname`,
    [[...behindCommits.tables, ...except]],
  );
  const dump: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await db.superuser<{ row: string }>(
      `select (to_jsonb(t) - $1::text[])::text as row from ${name} t order by 1`,
      [behindCommits.columns],
    );
    dump[name] = rows.map(({ row }) => row);
  }
  return dump;
}

export interface Holding {
  readonly account_id: string;
  readonly posted: bigint;
  readonly kinds: string;
}

/** Each account of an institution by its public id: the posted balance, and the kinds of its entries in order. */
export async function balancesOf(db: TestDatabase, code: string): Promise<Record<string, Holding>> {
  const rows = await db.superuser<Holding>(
    `select b.account_id, b.posted,
            coalesce((select string_agg(e.kind, ' ' order by e.seq) from entries e
                      where e.institution_id = b.institution_id and e.account_key = b.account_key), '') as kinds
     from balances b join institutions i using (institution_id) where i.code = $1`,
    [code],
  );
  return Object.fromEntries(rows.map((row) => [row.account_id, row]));
}

/** The ledger's sum, one line per institution and currency: each must be `0`. */
export async function ledgerSums(db: TestDatabase): Promise<string[]> {
  const rows = await db.superuser<{ sum: string }>(
    `select sum(posted)::text as sum from balances group by institution_id, currency
     union all
     select sum(e.amount)::text from entries e join balances b using (institution_id, account_key)
     group by e.institution_id, b.currency`,
  );
  return rows.map(({ sum }) => sum);
}

/** The imported rows of the institution, without generated numbers and times. */
export async function importedRows(db: TestDatabase, code = 'fictional') {
  const of = 'institution_id = (select institution_id from institutions where code = $1)';
  return {
    balances: await balancesOf(db, code),
    holders: await db.superuser(
      `select account_id, person_id, role, may_pay from holders
         join accounts using (institution_id, account_key) join persons using (institution_id, person_key)
       where ${of} order by 1, 2`,
      [code],
    ),
    persons: await db.superuser(
      `select member_number, customer_id, person_id, role from customer_persons
         join customers using (institution_id, customer_key) join persons using (institution_id, person_key)
       where ${of} order by 1, 3`,
      [code],
    ),
    loans: await db.superuser(
      `select account_id, accrued_interest, fees_due from loans
         join accounts using (institution_id, account_key) where ${of} order by 1`,
      [code],
    ),
    sums: new Set(await ledgerSums(db)),
  };
}
