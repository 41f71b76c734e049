import { type Statement, sql } from '../storage/index.ts';
import type { FindingKind } from './finding-kinds.ts';

/**
 * A rule, as the statement that finds the rows that break it. It returns the columns of `foundColumns` from one snapshot. Its parameters are the institution and, except for `whole`, the key range: above $2, up to $3.
 *
 * The statements have no slow plan, even with wrong statistics: a look-up by key is a "lateral (… offset 0)", and two sets
 * are compared by their sums instead of a join.
 */
export interface Check {
  readonly name: FindingKind;
  readonly walk: 'whole' | 'accounts' | 'transfers' | 'ids' | 'events' | 'counters';
  readonly statement: Statement;
  /** The same for the keys of the array $2; $3 is null. Undefined where rows are not checked by their keys. */
  readonly ofKeys: Statement | undefined;
}

/** SQL: the rows of a statement's range, or those with its keys. */
export type Within = (alias: string, column?: string) => string;

const keyOf = {
  whole: '',
  accounts: 'account_key',
  transfers: 'transfer_key',
  ids: 'transfer_id',
  events: 'event_key',
  counters: '',
} as const satisfies Record<Check['walk'], string>;

function inRange(walk: Check['walk']): Within {
  return (alias, column = keyOf[walk]) =>
    `${alias}.institution_id = $1 and ${alias}.${column} > $2 and ${alias}.${column} <= $3`;
}

function amongKeys(walk: Check['walk']): Within {
  return (alias, column = keyOf[walk]) =>
    `${alias}.institution_id = $1 and ${alias}.${column} = any ($2::bigint[]) and $3::bigint is null`;
}

/** A statement in both forms: for a range, and for keys. */
export interface Both {
  readonly statement: Statement;
  readonly ofKeys: Statement;
}

export function both(walk: Check['walk'], name: string, textOf: (within: Within) => string): Both {
  return {
    statement: sql(name, textOf(inRange(walk))),
    ofKeys: sql(`${name}_of_keys`, textOf(amongKeys(walk))),
  };
}

/** A check, with statements named after it. A text without `within` is for ranges only. */
export function check(
  walk: Check['walk'],
  name: FindingKind,
  text: string | ((within: Within) => string),
): Check {
  const statementName = `check_${name.replaceAll('-', '_')}`;
  if (typeof text === 'string') return { name, walk, statement: sql(statementName, text), ofKeys: undefined };
  return { name, walk, ...both(walk, statementName, text) };
}

/** The rows of one step: a range of keys, or some of them. */
export type Rows = { readonly after: string; readonly upTo: string } | { readonly keys: readonly bigint[] };

export interface Form {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** The form of a statement for these rows, with its first parameters; undefined if it has none for keys. */
export function formFor(institutionId: number, statements: Both, rows: Rows): Form;
export function formFor(
  institutionId: number,
  statements: Pick<Check, 'statement' | 'ofKeys'>,
  rows: Rows,
): Form | undefined;
export function formFor(
  institutionId: number,
  { statement, ofKeys }: Pick<Check, 'statement' | 'ofKeys'>,
  rows: Rows,
): Form | undefined {
  if ('after' in rows) return { statement, values: [institutionId, rows.after, rows.upTo] };
  return ofKeys && { statement: ofKeys, values: [institutionId, rows.keys, null] };
}

/** The id and the currency of an entry's account. Entries without an account are dropped; another check finds them. */
export const named = (alias: string) => `
  cross join lateral (
    select b.account_id, b.currency from balances b
    where b.institution_id = $1 and b.account_key = ${alias}.account_key offset 0) b`;
