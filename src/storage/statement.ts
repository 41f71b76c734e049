/** The internal number of an institution. Every row outside the global directory belongs to one. */
export type InstitutionId = number & { readonly __brand: 'InstitutionId' };

/** One named statement: prepared once for each connection, then sent by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Every statement of the loaded modules. A test prepares them all with the rights of the service. */
export const declaredStatements = new Map<string, Statement>();

export function sql(name: string, text: string): Statement {
  const statement = { name, text };
  declaredStatements.set(`${name} ${text}`, statement);
  return statement;
}

/**
 * A write that fails unless it writes as many rows as `expected`, an SQL expression, says. An update of a row that a
 * policy hides touches no row and raises no error. So callers need not check the count.
 */
export function counted(name: string, table: string, expected: string, write: string): Statement {
  return sql(
    name,
    `with written as (${write} returning 1) select expect_rows('${table}', count(*), ${expected}) from written`,
  );
}

/** A column `created_at` is the member `createdAt` of a row. */
export interface Result<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
  readonly command: string;
}

/** The global directory: it has no institution, and the rows of every institution are hidden from it. */
export interface Directory {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>>;
}

/** Sees the rows of one institution only. */
export interface Queryable extends Directory {
  readonly institutionId: InstitutionId;
}

/** A database, or a choice of several, that answers reads of one institution. */
export interface Reads {
  read<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T>;
}

/** A write as data: a statement that fails by itself if anything is wrong, and its values. */
export interface Write {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Statements on it commit together or not at all. */
export interface Transaction extends Queryable {
  /** Its work has ended, with a result or an error; further statements are rejected. */
  readonly over: boolean;
  /**
   * The pipelined commit: sends the writes and COMMIT in one packet, without waiting for a response. A write that fails
   * undoes the transaction and is the error. No statement can follow.
   */
  commitWith(writes: readonly Write[]): Promise<void>;
}
