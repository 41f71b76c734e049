import { type Statement, sql } from '../storage/index.ts';

/**
 * A rule, as the statement that finds the rows that break it. It returns `row` (the public name) and `detail` from one
 * snapshot. Its parameters are the institution and, except for `whole`, the key range: above $2, up to $3.
 *
 * The statements have no slow plan, even with wrong statistics: a look-up by key is a "lateral (… offset 0)", and two sets
 * are compared by their sums instead of a join.
 */
export interface Check {
  readonly name: string;
  readonly walk: 'whole' | 'accounts' | 'transfers' | 'ids' | 'events' | 'counters';
  readonly statement: Statement;
}

/** A check, with a statement named after it. */
export function check(walk: Check['walk'], name: string, text: string): Check {
  return { name, walk, statement: sql(`check_${name.replaceAll('-', '_')}`, text) };
}

/** The id of an entry's account. Entries without an account are dropped; another check finds them. */
export const named = (alias: string) => `
  cross join lateral (
    select b.account_id from balances b
    where b.institution_id = $1 and b.account_key = ${alias}.account_key offset 0) b`;
