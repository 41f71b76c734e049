import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { dumpSchema } from '../../scripts/schema-dump.ts';
import {
  asSuperuser,
  type TestCluster,
  templateName,
  templateRoles,
  useCluster,
} from '../support/postgres.ts';

const name = `loaded_${process.pid}`;

let cluster: TestCluster;
before(async () => {
  cluster = await useCluster();
  await asSuperuser(cluster.connection, (client) => client.query(`create database ${name}`));
});
after(async () => {
  await asSuperuser(cluster.connection, (client) => client.query(`drop database ${name} with (force)`));
  await cluster.stop();
});

test('schema.sql loads statement by statement into an empty database and makes the migrated schema', async () => {
  const statements = statementsOf(await readFile(new URL('../../schema.sql', import.meta.url), 'utf8'));
  assert.ok(statements.length > 400);
  const loaded = await asSuperuser({ ...cluster.connection, database: name }, async (client) => {
    for (const statement of statements) {
      await client.query(statement).catch((error) => assert.fail(`${error.message}: ${statement}`));
    }
    return dumpSchema(client, { service: 'sharedraft_service', backup: 'sharedraft_backup' });
  });
  const migrated = await asSuperuser({ ...cluster.connection, database: templateName }, (client) =>
    dumpSchema(client, templateRoles),
  );
  const expected = migrated.split('\n');
  const different = loaded.split('\n').filter((line, index) => line !== expected[index]);
  assert.deepEqual(different.slice(0, 3), []);
  assert.ok(loaded === migrated);
});

/** Splits at semicolons that end a line outside of dollar quotes. */
function statementsOf(script: string): string[] {
  const statements: string[] = [];
  let lines: string[] = [];
  let isQuoted = false;
  for (const line of script.split('\n')) {
    if (lines.length === 0 && (line === '' || line.startsWith('--'))) continue;
    lines.push(line);
    if ((line.match(/\$(?:function)?\$/g)?.length ?? 0) % 2 === 1) isQuoted = !isQuoted;
    if (isQuoted || !line.endsWith(';')) continue;
    statements.push(lines.join('\n'));
    lines = [];
  }
  assert.deepEqual(lines, []);
  return statements;
}
