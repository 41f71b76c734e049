import type { Connection, Database, InstitutionId, Statement, Transaction } from '../../src/storage/index.ts';

/** The same database, which adds the name of each statement to `work`. */
export function recording(database: Database, work: string[]): Database {
  const noted = <Q extends Connection | Transaction>(db: Q): Q =>
    new Proxy(db, {
      get: (target, key) =>
        key === 'query'
          ? (statement: Statement, values: readonly unknown[]) => {
              work.push(statement.name);
              return target.query(statement, values);
            }
          : Reflect.get(target, key),
    });
  return new Proxy(database, {
    get: (target, key) => {
      if (key === 'directory')
        return (run: (db: Connection) => unknown) =>
          target.directory((db) => run(noted(db as Connection)) as never);
      if (key === 'read' || key === 'write' || key === 'transaction') {
        return (institutionId: InstitutionId, run: (db: Transaction) => unknown) =>
          target[key](institutionId, (db: unknown) => run(noted(db as Transaction)) as never);
      }
      return Reflect.get(target, key);
    },
  });
}
