import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { createClient, createLogin, parseScope } from '../auth/index.ts';
import { importExtract } from '../core-system/index.ts';
import { ownOrigin } from '../events/index.ts';
import { findInstitutionByCode, type Institution } from '../institutions/index.ts';
import { sql } from '../storage/index.ts';
import { saveTransferRules } from '../transfers/index.ts';
import type { AppContext } from './context.ts';
import { readTransferRules } from './transfer-rules.ts';

const examples = fileURLToPath(new URL('../../examples', import.meta.url));
/** The folders of extracts; the first is the one that the README's calls speak to. */
const extracts = ['lakeside', 'harbor'];

interface ClientLine {
  readonly institution: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly name: string;
  readonly scopes: string;
  readonly grants: string;
  readonly introspection: 'own' | 'all';
}

interface LoginLine {
  readonly institution: string;
  readonly person_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly password: string;
  readonly email: string;
  readonly state: 'active' | 'locked' | 'inactive';
}

/**
 * Loads the demo institutions into a database that holds nothing else, through the same import as a real one's
 * extract. Logins and clients are no core facts, and come from files of their own. The clients come last: killed before
 * them, the next start completes the work.
 */
export async function loadDemoWhenEmpty(context: AppContext): Promise<boolean> {
  const clients = await readLines<ClientLine>('clients.csv');
  const standing = await context.database.directory((db) =>
    db.query<{ others: bigint; last: bigint }>(demoStanding, [clients.at(-1)?.client_id]),
  );
  if (standing.rows[0]?.others !== 0n || standing.rows[0].last !== 0n) return false;

  for (const folder of extracts) {
    const { code } = await importExtract(context, path.join(examples, folder));
    const institution = await institutionOf(context, code);
    // Once only: where they ask for a second person, the service cannot lay them down again by itself.
    if (await hasPolicies(context, institution)) continue;
    const rules = await readTransferRules(path.join(examples, folder));
    await saveTransferRules(context, institution.institutionId, rules, ownOrigin());
  }
  const logins = await readLines<LoginLine>('logins.csv');
  await Promise.all(logins.map((line) => addLogin(context, line)));
  for (const line of clients) await addClient(context, line);
  return true;
}

const demoStanding = sql(
  'demo_standing',
  `select (select count(*) from institutions where not demo) as others,
          (select count(*) from client_directory where client_id = $1) as last`,
);

const policies = sql(
  'demo_policies',
  'select count(*) as count from transfer_policies where institution_id = $1',
);

async function hasPolicies(context: AppContext, { institutionId }: Institution): Promise<boolean> {
  const { rows } = await context.database.read(institutionId, (db) =>
    db.query<{ count: bigint }>(policies, [institutionId]),
  );
  return rows[0]?.count !== 0n;
}

async function addLogin(context: AppContext, line: LoginLine): Promise<void> {
  const { institutionId } = await institutionOf(context, line.institution);
  const { person_id: personId, user_id: userId, username, password, email, state } = line;
  await createLogin(context.auth, institutionId, { personId, userId, username, password, email, state });
}

async function addClient(context: AppContext, line: ClientLine): Promise<void> {
  const { institutionId } = await institutionOf(context, line.institution);
  await createClient(
    context.auth,
    {
      institutionId,
      clientId: line.client_id,
      name: line.name,
      secret: line.client_secret,
      scopes: line.scopes.split(' ').flatMap((name) => parseScope(name) ?? []),
      grants: line.grants.split(' '),
      introspectsAll: line.introspection === 'all',
      registrationRefusals: 'DISTINCT',
    },
    ownOrigin(),
  );
}

async function institutionOf(context: AppContext, code: string): Promise<Institution> {
  const institution = await context.database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined) throw new Error(`examples: there is no institution ${code}`);
  return institution;
}

async function readLines<Line>(file: string): Promise<Line[]> {
  return parse(await readFile(path.join(examples, file), 'utf8'), {
    columns: true,
    skip_empty_lines: true,
    bom: true,
  });
}
