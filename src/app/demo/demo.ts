import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { addClientKey, type ClientKey, createClient, createLogin, parseScope } from '../../auth/index.ts';
import { importExtract } from '../../core-system/index.ts';
import { ownOrigin } from '../../events/index.ts';
import { findInstitutionByCode, type Institution, listInstitutions } from '../../institutions/index.ts';
import { rememberSettings, saveTransferRules } from '../../transfers/index.ts';
import type { AppContext } from '../context.ts';
import { readTransferRules } from '../transfer-rules.ts';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));
/** Folders of extracts. The calls of the README go to the first. */
const extracts = ['lakeside', 'harbor'];
/** The client of the simulated core. */
export const meadowCoreClient = 'meadow-core';

interface ClientLine {
  readonly institution: string;
  readonly client_id: string;
  /** Empty for a public client. */
  readonly client_secret: string;
  readonly name: string;
  readonly scopes: string;
  readonly grants: string;
  readonly introspection: 'own' | 'all';
  /** Separated by spaces; absent in a file of clients without pages. */
  readonly redirect_uris?: string;
  /** Absent as `redirect_uris` is. */
  readonly consent?: 'asked' | 'first-party';
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
 * Loads the demo institutions into a database that holds nothing else, through the same import as a real institution's
 * extract. Returns whether it loaded them. Clients come last: if the process is killed before them, the next start
 * completes the work.
 */
export async function loadDemoWhenEmpty(context: AppContext): Promise<boolean> {
  const clients = await readLines<ClientLine>('clients.csv');
  const institutions = await context.database.directory(listInstitutions);
  if (institutions.some(({ demo }) => !demo)) return false;
  const lastClient = clients.at(-1)?.client_id ?? '';
  if ((await context.auth.clientDirectory.institutionOf(lastClient)) !== undefined) return false;

  for (const folder of extracts) await loadInstitution(context, folder);
  const logins = await readLines<LoginLine>('logins.csv');
  await Promise.all(logins.map((line) => addLogin(context, line)));
  for (const line of clients) await addClient(context, line);
  return true;
}

/**
 * Loads meadow beside the other demo institutions: a simulated core is the record of its accounts, and `coreKey` is the public key of
 * that core's client. Returns false in a database without the demo. The core's client comes last, so that the next start completes a load
 * that was killed.
 */
export async function loadMeadow(context: AppContext, coreKey: ClientKey): Promise<boolean> {
  const institutions = await context.database.directory(listInstitutions);
  if (institutions.some(({ demo }) => !demo) || !institutions.some(({ code }) => code === extracts[0]))
    return false;
  const loadedAs = await context.auth.clientDirectory.institutionOf(meadowCoreClient);
  if (loadedAs !== undefined) {
    // A core whose folder was deleted has a new key.
    await addClientKey(context.auth, loadedAs, {
      clientId: meadowCoreClient,
      key: coreKey,
      origin: ownOrigin(),
    });
    return true;
  }
  const { institutionId } = await loadInstitution(context, 'meadow');
  const logins = await readLines<LoginLine>('meadow/logins.csv');
  await Promise.all(logins.map((line) => addLogin(context, line)));
  for (const line of await readLines<ClientLine>('meadow/clients.csv')) await addClient(context, line);
  await createClient(
    context.auth,
    {
      institutionId,
      clientId: meadowCoreClient,
      name: 'Core of meadow',
      key: coreKey,
      scopes: ['core:read', 'core:write'],
      grants: ['client_credentials'],
    },
    ownOrigin(),
  );
  return true;
}

async function loadInstitution(context: AppContext, folder: string): Promise<Institution> {
  const { code } = await importExtract(context, path.join(examples, folder));
  const institution = await institutionOf(context, code);
  // Saved once only: under dual control the service cannot save them again by itself.
  const { policies } = await rememberSettings(context.database)(institution.institutionId);
  if (policies.length > 0) return institution;
  const rules = await readTransferRules(path.join(examples, folder));
  await saveTransferRules(context, institution.institutionId, { rules, origin: ownOrigin() });
  return institution;
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
      ...(line.client_secret === '' ? { isPublic: true } : { secret: line.client_secret }),
      redirectUris: line.redirect_uris?.split(' ').filter(Boolean) ?? [],
      isFirstParty: line.consent === 'first-party',
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
