import { type Statement, sql } from '../storage/index.ts';

/**
 * Something that must be true, as the question for the rows where it is not. Each statement answers `row` (what is off,
 * by its public name) and `detail` from one snapshot, and takes the institution and, but for `whole`, the key range
 * it looks at: above $2, up to $3.
 *
 * Written so that no plan can be slow, whatever the planner believes of a table's size: a look-up by key stands in
 * "lateral (… offset 0)", and two sets are compared by adding them up together instead of joining them.
 */
export interface Check {
  readonly name: string;
  readonly walk: 'whole' | 'accounts' | 'transfers' | 'ids' | 'events' | 'counters';
  readonly statement: Statement;
}

/** A check whose statement is called after it. */
export function check(walk: Check['walk'], name: string, text: string): Check {
  return { name, walk, statement: sql(`check_${name.replaceAll('-', '_')}`, text) };
}

/** The name of an entry's account; none for entries of no account, which are found as such. */
export const named = (alias: string) => `
  cross join lateral (
    select b.account_id from balances b
    where b.institution_id = $1 and b.account_key = ${alias}.account_key offset 0) b`;
