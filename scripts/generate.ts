// Writes the generated files of the repository: schema.sql, openapi.json, and parts of pages between markers. With --check
// it writes nothing, and fails if one of them is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { settingsTable } from '../src/app/settings.ts';
import { actsTable } from '../src/cli/acts.ts';
import { generateOpenApi } from '../src/http/openapi/openapi.ts';
import { generateOperatorsOpenApi, operationsTable } from '../src/http/operators/openapi.ts';
import { asSuperuser, startCluster, templateName, templateRoles } from '../test/support/postgres.ts';
import { folderTable, importDiagram, tableOwnersTable } from './architecture.ts';
import { clientTables, clientTypes, type OpenApi } from './client-types.ts';
import { dumpSchema } from './schema-dump.ts';

const openApi = await generateOpenApi();
const files: [string, string][] = [
  ['openapi.json', `${JSON.stringify(openApi, null, 2)}\n`],
  ['openapi-operations.json', `${JSON.stringify(generateOperatorsOpenApi(), null, 2)}\n`],
  ['client/src/schema.ts', clientTypes(openApi as OpenApi)],
  ['client/src/tables.ts', clientTables(openApi as OpenApi)],
  ['schema.sql', await dumpMigrated()],
  ['docs/configuration.md', await withGenerated('docs/configuration.md', { settings: settingsTable() })],
  [
    'docs/operators.md',
    await withGenerated('docs/operators.md', { acts: actsTable(), operations: operationsTable() }),
  ],
  [
    'ARCHITECTURE.md',
    await withGenerated('ARCHITECTURE.md', {
      picture: importDiagram(),
      folders: folderTable(),
      tables: tableOwnersTable(),
    }),
  ],
];
let stale = false;
for (const [name, text] of files) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    stale = true;
    console.error(`${name} is stale: run npm run generate`);
  }
}
process.exitCode = stale ? 1 : 0;

/** The page with the text between each pair of markers replaced. */
async function withGenerated(page: string, parts: Readonly<Record<string, string>>): Promise<string> {
  let text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
  for (const [marker, part] of Object.entries(parts)) {
    const [start, end] = [`<!-- generated: ${marker} -->\n`, `\n<!-- end of ${marker} -->`];
    if (!text.includes(start) || !text.includes(end)) throw new Error(`${page} has no markers for ${marker}`);
    text = text.slice(0, text.indexOf(start) + start.length) + part + text.slice(text.indexOf(end));
  }
  return text;
}

async function dumpMigrated(): Promise<string> {
  const cluster = await startCluster();
  try {
    const template = { ...cluster.connection, database: templateName };
    return await asSuperuser(template, (client) => dumpSchema(client, templateRoles));
  } finally {
    await cluster.stop();
  }
}
