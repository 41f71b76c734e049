// Writes what is generated and kept in the repository: schema.sql and openapi.json. With --check it writes nothing
// and fails when they are not what they would be.
import { readFile, writeFile } from 'node:fs/promises';
import { generateOpenApi } from '../src/http/openapi/openapi.ts';
import { dumpSchema } from '../src/storage/index.ts';
import { asSuperuser, startCluster, templateName } from '../test/support/postgres.ts';

const files: [string, string][] = [
  ['openapi.json', `${JSON.stringify(await generateOpenApi(), null, 2)}\n`],
  ['schema.sql', await dumpMigrated()],
];
let stale = false;
for (const [name, text] of files) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    stale = true;
    console.error(`${name} is not what the code generates: run npm run generate`);
  }
}
process.exitCode = stale ? 1 : 0;

async function dumpMigrated(): Promise<string> {
  const cluster = await startCluster();
  try {
    return await asSuperuser({ ...cluster.connection, database: templateName }, dumpSchema);
  } finally {
    await cluster.stop();
  }
}
