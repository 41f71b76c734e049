import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { tableOwners } from '../house/table-owners.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** The files with the statements of remembered answers, and of the tokens that ask for them. */
const statements = [
  'src/accounts/queries.ts',
  'src/members/queries.ts',
  'src/feed/history-queries.ts',
  'src/auth/tokens/token-status.ts',
  'src/auth/providers/queries.ts',
];

/** Tables whose changes leave no row, with the reason why no answer needs one. */
const withoutTrigger: Readonly<Record<string, string>> = {
  balances: 'the question compares the number of the newest entry',
  entries: 'a new entry raises the number of its balance, and an entry never changes',
  transfers: 'each change that a history shows writes entries; the memo and the accounts never change',
  provider_directory: 'the issuer and audience of a provider never change',
};

test('every table that a remembered answer is read from notes its changes, or has a reason not to', () => {
  const named = new Set(
    statements.flatMap((file) =>
      [...read(file).matchAll(/\b(?:from|join)\s+\(?(\w+)/g)].flatMap(([, table = '']) =>
        Object.hasOwn(tableOwners, table) ? [table] : [],
      ),
    ),
  );
  const noting = new Set(
    [...read('schema.sql').matchAll(/CREATE TRIGGER note_(\w+) AFTER \w+ ON (?:public\.)?(\w+)/gi)].map(
      ([, event, table]) => `${table} ${event}`,
    ),
  );
  assert.ok(named.size > 10 && noting.size > 40, `${named.size} tables, ${noting.size} triggers`);
  const events = ['inserted', 'updated', 'deleted', 'truncated'];
  const silent = [...named].filter((table) => !events.every((event) => noting.has(`${table} ${event}`)));
  assert.deepEqual(silent.toSorted(), Object.keys(withoutTrigger).toSorted());
});
