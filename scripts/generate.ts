// Writes the generated files of the repository: schema.sql, openapi.json and the table of docs/configuration.md. With --check
// it writes nothing, and fails if one of them is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { settingsTable } from '../src/app/settings.ts';
import { generateOpenApi } from '../src/http/openapi/openapi.ts';
import { dumpSchema } from '../src/storage/index.ts';
import { asSuperuser, startCluster, templateName } from '../test/support/postgres.ts';

const files: [string, string][] = [
  ['openapi.json', `${JSON.stringify(await generateOpenApi(), null, 2)}\n`],
  ['schema.sql', await dumpMigrated()],
  ['docs/configuration.md', await withGenerated('docs/configuration.md', 'settings', settingsTable())],
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

/** The page with the text between its two markers replaced. */
async function withGenerated(page: string, marker: string, text: string): Promise<string> {
  const before = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
  const [start, end] = [`<!-- generated: ${marker} -->\n`, `\n<!-- end of ${marker} -->`];
  if (!before.includes(start) || !before.includes(end))
    throw new Error(`${page} has no markers for ${marker}`);
  return before.slice(0, before.indexOf(start) + start.length) + text + before.slice(before.indexOf(end));
}

async function dumpMigrated(): Promise<string> {
  const cluster = await startCluster();
  try {
    return await asSuperuser({ ...cluster.connection, database: templateName }, dumpSchema);
  } finally {
    await cluster.stop();
  }
}
