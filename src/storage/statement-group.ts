import pg from 'pg';
import type { Result, Statement } from './database.ts';

/** A statement on its way, and who waits for its answer. */
export interface Asked {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly resolve: (result: Result<never>) => void;
  readonly reject: (error: unknown) => void;
}

/** What a prepared statement answers with: its columns, none where it has no rows. */
type Columns = readonly {
  readonly name: string;
  readonly snakeName: string | undefined;
  readonly parse: (text: string) => unknown;
}[];

/** The statements that a connection has prepared, by name. */
export type Prepared = Map<string, { readonly text: string; readonly columns: Columns }>;

/** As pg's connection writes the protocol; not in the type package. */
interface Wire {
  close(message: { type: 'S'; name: string }): void;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { readonly portal?: string }): void;
  sync(): void;
}

const { Query, utils } = pg as unknown as {
  readonly Query: new (config: { text: string }) => object;
  readonly utils: { prepareValue(value: unknown): unknown };
};

/**
 * Statements that go out behind one another with one Sync at their end: the server answers them in one piece, where
 * pg's own queries are each answered, sent and read alone (measured: 15 µs a statement on either side). Once one of
 * them fails, those behind it are not run, and all are told of that one failure.
 *
 * What a statement's rows look like is asked for once, when it is prepared.
 */
export class StatementGroup extends Query {
  readonly #asked: readonly Asked[];
  readonly #prepared: Prepared;
  readonly #types: pg.CustomTypesConfig;
  readonly #preparing: Prepared = new Map();
  readonly #answered: () => void;
  readonly #results: Result<never>[] = [];
  /** Of each statement, as it was known when it was sent: what others do to the connection meanwhile changes nothing. */
  #known: readonly Columns[] = [];
  #columns: Columns = [];
  #rows: object[] = [];

  /** `answered` is called once, with whatever the answer was. */
  constructor(
    asked: readonly Asked[],
    prepared: Prepared,
    types: pg.CustomTypesConfig,
    answered: () => void,
  ) {
    super({ text: '' });
    this.#asked = asked;
    this.#prepared = prepared;
    this.#types = types;
    this.#answered = answered;
  }

  submit(wire: Wire): Error | null {
    for (const { statement } of this.#asked) {
      const known = this.#prepared.get(statement.name);
      if (known !== undefined && known.text !== statement.text) {
        return new Error(`storage: two statements are called ${statement.name}`);
      }
    }
    let values: unknown[][];
    try {
      // Before anything is sent: what cannot be written must not leave half a message behind.
      values = this.#asked.map((one) => one.values.map(asText));
    } catch (error) {
      return error as Error;
    }
    for (const [index, { statement }] of this.#asked.entries()) {
      const { name, text } = statement;
      if (!this.#prepared.has(name) && (name === '' || !this.#preparing.has(name))) {
        // It may have been prepared behind one that failed: closing what is not there is no error.
        if (name !== '') wire.close({ type: 'S', name });
        wire.parse({ name, text });
        this.#preparing.set(name, { text, columns: [] });
      }
      wire.bind({ statement: name, values: values[index] as unknown[], valueMapper: (value) => value });
      if (!this.#prepared.has(name)) wire.describe({ type: 'P', name: '' });
      wire.execute({});
    }
    wire.sync();
    this.#known = this.#asked.map(({ statement }) => this.#prepared.get(statement.name)?.columns ?? []);
    this.#begin();
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    // Both names while row types with snake_case members remain.
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name: inCamelCase(name),
      snakeName: name.includes('_') ? name : undefined,
      parse: this.#types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    const columns = this.#columns;
    for (let at = 0; at < columns.length; at++) {
      const { name, snakeName, parse } = columns[at] as Columns[number];
      const text = fields[at] as string | null;
      const value = text === null ? null : parse(text);
      row[name] = value;
      if (snakeName !== undefined) row[snakeName] = value;
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const words = text.split(' ');
    const rowCount = Number(words.at(-1));
    this.#results.push({
      rows: this.#rows as never[],
      rowCount: Number.isNaN(rowCount) ? 0 : rowCount,
      command: words[0] as string,
    });
    const { name, text: asked } = (this.#asked[this.#results.length - 1] as Asked).statement;
    if (this.#preparing.has(name)) this.#preparing.set(name, { text: asked, columns: this.#columns });
    this.#begin();
  }

  handleReadyForQuery(): void {
    this.#answered();
    this.#preparing.delete('');
    for (const [name, prepared] of this.#preparing) this.#prepared.set(name, prepared);
    for (const [index, { resolve }] of this.#asked.entries()) resolve(this.#results[index] as Result<never>);
  }

  handleError(error: unknown): void {
    this.#answered();
    // The server may have them no more, or in a form that no longer fits: prepared anew, they do.
    for (const { statement } of this.#asked) this.#prepared.delete(statement.name);
    const failed = this.#asked[this.#results.length]?.statement.name;
    if (error instanceof pg.DatabaseError) Object.assign(error, { statement: failed });
    for (const { reject } of this.#asked) reject(error);
  }

  #begin(): void {
    this.#columns = this.#known[this.#results.length] ?? [];
    this.#rows = [];
  }
}

/** The column `created_at` is the member `createdAt` of a row. */
export function inCamelCase(column: string): string {
  return column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Numbers need no quotes in an array, which pg would write and the server read. */
function asText(value: unknown): unknown {
  if (Array.isArray(value) && value.every(isPlain)) {
    return `{${value.map((item) => item ?? 'NULL').join(',')}}`;
  }
  return utils.prepareValue(value);
}

function isPlain(item: unknown): boolean {
  return item === null || typeof item === 'bigint' || typeof item === 'number' || typeof item === 'boolean';
}
