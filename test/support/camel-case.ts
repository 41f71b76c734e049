import { inCamelCase as memberOf } from '../../src/storage/pipelined-query.ts';

/** A row of pg's own client, named as the service's queries name theirs. */
export function inCamelCase<Row extends object>(row: object): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [memberOf(name), value])) as Row;
}
