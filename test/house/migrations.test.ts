import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* The previous version serves while a migration runs, so a migration may not hold a lock on a large table for the time of a scan. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Tables that grow with members, accounts, transfers, events or requests. */
const largeTables = [
  'accounts',
  'alert_rules',
  'alerts',
  'audit_entries',
  'authorization_grants',
  'balances',
  'changes',
  'consents',
  'core_authorizations',
  'core_instructions',
  'core_record_versions',
  'core_transactions',
  'customer_persons',
  'customers',
  'entries',
  'holders',
  'idempotency_keys',
  'limit_counters',
  'limit_uses',
  'loan_payments',
  'loans',
  'member_sessions',
  'openings',
  'outbox',
  'pending_transfers',
  'persons',
  'refresh_families',
  'revocations',
  'transfers',
  'user_phones',
  'users',
  'webhook_attempts',
  'webhook_deliveries',
];

/** Released with locks on large tables (docs/operations.md). A released migration never changes. */
const before = 31;

interface Breach {
  readonly statement: string;
  readonly why: string;
}

/** The statements of a migration that would lock a large table for longer than a moment. */
function breachesOf(text: string): Breach[] {
  const plain = text.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''");
  const made = new Set(
    [...plain.matchAll(/\bcreate table (?:if not exists )?(\w+)/gi)].map(([, name]) => name),
  );
  const isLarge = (table: string | undefined) =>
    table !== undefined && largeTables.includes(table) && !made.has(table);
  return plain.split(';').flatMap((raw) => {
    const statement = raw.trim().replace(/\s+/g, ' ');
    const breach = (why: string) => [{ statement: statement.slice(0, 100), why }];
    const [, concurrently, indexed] =
      /^create (?:unique )?index (concurrently )?(?:if not exists )?\w+ on (?:only )?(\w+)/i.exec(
        statement,
      ) ?? [];
    if (isLarge(indexed) && concurrently === undefined)
      return breach('builds an index under a lock of writers');
    const [, written] = /^(?:update|delete from) (?:only )?(\w+)/i.exec(statement) ?? [];
    if (isLarge(written)) return breach('rewrites rows in one transaction');
    const [, altered, change = ''] = /^alter table (?:only )?(\w+) (.*)$/i.exec(statement) ?? [];
    if (!isLarge(altered)) return [];
    return change.split(/,(?![^(]*\))/).flatMap((part) => {
      if (/\bgenerated always as\b.*\bstored\b/i.test(part))
        return breach('rewrites the table: a stored column');
      if (/\balter (?:column )?\w+ (?:set data )?type\b/i.test(part))
        return breach('may rewrite the table: a type');
      if (/\bset not null\b/i.test(part))
        return breach('scans the table: add a check that is not valid first');
      if (/\bdefault\b.*\w\(/i.test(part) && /\badd\b/i.test(part))
        return breach('rewrites the table: a volatile default');
      const constraint =
        /^\s*add (?:constraint \w+ )?(?:check|foreign key|unique|primary key|exclude)\b/i.test(part);
      if (constraint && !/\bnot valid\b|\busing index\b/i.test(part))
        return breach('scans the table: not valid first');
      const inline =
        /^\s*add (?:column )?(?:if not exists )?\w+ .*\b(?:check|references|unique|primary key)\b/i.test(
          part,
        );
      if (inline && !constraint) return breach('scans the table: name the constraint, not valid');
      if (/\bvalidate constraint\b/i.test(part) && change.includes(' add '))
        return breach('validates under the lock of the addition');
      return [];
    });
  });
}

test('no new migration locks a large table for the time of a scan', () => {
  const files = globSync('migrations/*.sql', { cwd: root }).toSorted();
  const breaches = files
    .filter((file) => Number(/(\d{4})_/.exec(file)?.[1]) > before)
    .flatMap((file) =>
      breachesOf(readFileSync(`${root}/${file}`, 'utf8')).map(
        ({ statement, why }) => `${file}: ${why}: ${statement}`,
      ),
    );
  assert.deepEqual(breaches, [], 'CONTRIBUTING.md, "Add a migration", has the way around each');
});

test('the large tables of the rule on migrations exist', () => {
  const schema = readFileSync(`${root}/schema.sql`, 'utf8');
  assert.deepEqual(
    largeTables.filter((table) => !new RegExp(`^create table ${table} \\(`, 'im').test(schema)),
    [],
  );
});

for (const [statement, why] of [
  ['create index entries_by_day on entries (institution_id)', /under a lock of writers/],
  ['create unique index on_users on users (institution_id)', /under a lock of writers/],
  ['create index concurrently entries_by_day on entries (institution_id)', undefined],
  ["update persons set email = ''", /rewrites rows/],
  ['alter table users add column a text generated always as (lower(email)) stored', /a stored column/],
  ['alter table persons add column a integer not null default 0', undefined],
  ['alter table persons add column a uuid default gen_random_uuid()', /a volatile default/],
  ['alter table transfers alter column memo type varchar', /a type/],
  ['alter table transfers alter column memo set not null', /scans the table/],
  ['alter table transfers add constraint a check (amount_minor > 0)', /not valid first/],
  ['alter table transfers add constraint a check (amount_minor > 0) not valid', undefined],
  ['alter table transfers validate constraint a', undefined],
  ["alter table transfers add column a text check (a <> '')", /name the constraint/],
  ['create table fresh (a integer); create index of_fresh on fresh (a)', undefined],
  ['create index of_institutions on institutions (name)', undefined],
] as const) {
  test(`the rule on migrations ${why === undefined ? 'accepts' : 'refuses'} "${statement}"`, () => {
    const [breach] = breachesOf(statement);
    if (why === undefined) assert.equal(breach, undefined);
    else assert.match(breach?.why ?? '', why);
  });
}
