import { columnsOf, type Directory, type InstitutionId, sql } from '../storage/index.ts';

/* The names of institutions that are unique over all cells, as a cell publishes and claims them. */

export interface PublishedInstitution {
  readonly institutionId: InstitutionId;
  readonly code: string;
  /** How often it has changed its cell, as this cell knows. */
  readonly moves: number;
}
export interface PublishedHost {
  readonly institutionId: InstitutionId;
  readonly host: string;
}
export interface PublishedClient {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
}
export interface PublishedProvider {
  readonly institutionId: InstitutionId;
  readonly issuer: string;
  readonly audience: string;
}

/*
 * A publication repeats names that the directory has. They are left out by a look, which costs less than the checks of an insertion; `on
 * conflict` is for those that come at the same time.
 */
const institutionsGiven =
  'unnest($1::integer[], $2::text[], $3::integer[]) as given (institution_id, code, moves)';
const insertInstitutions = sql(
  'directory_insert_institutions',
  `insert into directory_institutions (institution_id, code, moves, cell, placed_at)
   select given.institution_id, given.code, given.moves, $4, $5 from ${institutionsGiven}
   where exists (select from directory_cells c where given.institution_id between c.first_number and c.last_number)
     and not exists (select from directory_institutions known where known.institution_id = given.institution_id)
   order by 1 on conflict do nothing`,
);
const strangeInstitutions = sql(
  'directory_strange_institutions',
  `select given.institution_id, given.code, i.code as known_code, i.cell, other.cell as cell_of_code
   from ${institutionsGiven}
   left join directory_institutions i on i.institution_id = given.institution_id
   left join directory_institutions other on other.code = given.code
   where i.cell is distinct from $4 or i.code <> given.code order by 1`,
);

interface StrangeInstitution extends Omit<PublishedInstitution, 'moves'> {
  readonly knownCode: string | null;
  readonly cell: string | null;
  readonly cellOfCode: string | null;
}

/** Adds those that are new, and returns a sentence for each that the directory has in another way. */
export async function publishInstitutions(
  db: Directory,
  cell: string,
  institutions: readonly PublishedInstitution[],
  at: Date,
): Promise<{ readonly added: number; readonly conflicts: readonly string[] }> {
  const given = [...columnsOf(institutions, 'institutionId', 'code', 'moves'), cell];
  const { rowCount: added } = await db.query(insertInstitutions, [...given, at]);
  const { rows } = await db.query<StrangeInstitution>(strangeInstitutions, given);
  return { added, conflicts: rows.map(sentenceOf) };
}

const elsewhere = sql(
  'directory_elsewhere',
  `select institution_id, code, moves, cell from directory_institutions
   where institution_id = any ($1::integer[]) and cell <> $2 order by 1`,
);

/** With the number of moves that the directory knows. */
export interface PlacedElsewhere extends PublishedInstitution {
  readonly cell: string;
}

/** Those of the institutions that the directory places in another cell. */
export async function selectElsewhere(
  db: Directory,
  cell: string,
  institutions: readonly InstitutionId[],
): Promise<PlacedElsewhere[]> {
  return (await db.query<PlacedElsewhere>(elsewhere, [institutions, cell])).rows;
}

function sentenceOf(strange: StrangeInstitution): string {
  const { institutionId, code, knownCode, cell, cellOfCode } = strange;
  if (knownCode !== null && knownCode !== code)
    return `The institution ${institutionId} is "${code}" here, and "${knownCode}" in the directory.`;
  if (cell !== null)
    return `"${code}" is served here, and the directory says that the cell "${cell}" serves it.`;
  if (cellOfCode !== null) return `The cell "${cellOfCode}" has another institution with the code "${code}".`;
  return `No cell of the directory has the number ${institutionId} of "${code}".`;
}

const numberOfCode = sql(
  'directory_number_of_code',
  'select institution_id from directory_institutions where code = $1 and cell = $2',
);

/** The number of the cell's institution with this code. */
export async function selectNumberOf(
  db: Directory,
  { code, cell }: { readonly code: string; readonly cell: string },
): Promise<InstitutionId | undefined> {
  const { rows } = await db.query<{ institutionId: InstitutionId }>(numberOfCode, [code, cell]);
  return rows[0]?.institutionId;
}

const hostsGiven = 'unnest($1::integer[], $2::text[]) as given (institution_id, host)';
const insertHosts = sql(
  'directory_insert_hosts',
  `insert into directory_hosts (host, institution_id, claimed_at)
   select given.host, i.institution_id, $3 from ${hostsGiven}
   join directory_institutions i on i.institution_id = given.institution_id
   where not exists (select from directory_hosts known where known.host = given.host)
   order by 1 on conflict do nothing`,
);
const strangeHosts = sql(
  'directory_strange_hosts',
  `select given.host, i.code, i.cell from ${hostsGiven}
   join directory_hosts h on h.host = given.host and h.institution_id <> given.institution_id
   join directory_institutions i on i.institution_id = h.institution_id order by 1`,
);

export async function publishHosts(
  db: Directory,
  hosts: readonly PublishedHost[],
  at: Date,
): Promise<{ readonly added: number; readonly conflicts: readonly string[] }> {
  const given = columnsOf(hosts, 'institutionId', 'host');
  const { rowCount: added } = await db.query(insertHosts, [...given, at]);
  const { rows } = await db.query<{ host: string; code: string; cell: string }>(strangeHosts, given);
  return {
    added,
    conflicts: rows.map(
      ({ host, code, cell }) =>
        `The host name ${host} belongs to the institution "${code}" of the cell "${cell}".`,
    ),
  };
}

const renewHosts = sql(
  'directory_renew_hosts',
  `update directory_hosts h set claimed_at = $3 from ${hostsGiven}
   where h.institution_id = given.institution_id and h.host = given.host`,
);

/** An institution may take a name again that it gave up a moment ago, and no publication frees it before it is written. */
export async function renewClaims(db: Directory, hosts: readonly PublishedHost[], at: Date): Promise<void> {
  await db.query(renewHosts, [...columnsOf(hosts, 'institutionId', 'host'), at]);
}

const crossed = sql(
  'directory_hosts_and_issuers',
  `select h.host from directory_hosts h join directory_providers p on p.issuer = 'https://' || h.host
   where h.host = any ($1::text[]) or p.issuer = any ($2::text[]) order by 1`,
);

/** A sentence for each name that is an institution's own issuer and that of an identity provider: an issuer is known by its name alone. */
export async function listCrossedNames(
  db: Directory,
  hosts: readonly PublishedHost[],
  providers: readonly PublishedProvider[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ host: string }>(crossed, [
    hosts.map(({ host }) => host),
    providers.map(({ issuer }) => issuer),
  ]);
  return rows.map(
    ({ host }) => `https://${host} is an institution's own issuer, and that of an identity provider.`,
  );
}

const clientsGiven = 'unnest($1::integer[], $2::text[]) as given (institution_id, client_id)';
const insertClients = sql(
  'directory_insert_clients',
  `insert into directory_clients (client_id, institution_id, claimed_at)
   select given.client_id, i.institution_id, $3 from ${clientsGiven}
   join directory_institutions i on i.institution_id = given.institution_id
   where not exists (select from directory_clients known where known.client_id = given.client_id)
   order by 1 on conflict do nothing`,
);
const strangeClients = sql(
  'directory_strange_clients',
  `select given.client_id, i.code, i.cell from ${clientsGiven}
   join directory_clients c on c.client_id = given.client_id and c.institution_id <> given.institution_id
   join directory_institutions i on i.institution_id = c.institution_id order by 1`,
);

export async function publishClients(
  db: Directory,
  clients: readonly PublishedClient[],
  at: Date,
): Promise<{ readonly added: number; readonly conflicts: readonly string[] }> {
  const given = columnsOf(clients, 'institutionId', 'clientId');
  const { rowCount: added } = await db.query(insertClients, [...given, at]);
  const { rows } = await db.query<{ clientId: string; code: string; cell: string }>(strangeClients, given);
  return {
    added,
    conflicts: rows.map(
      ({ clientId, code, cell }) =>
        `The client id "${clientId}" belongs to the institution "${code}" of the cell "${cell}".`,
    ),
  };
}

const providersGiven =
  'unnest($1::integer[], $2::text[], $3::text[]) as given (institution_id, issuer, audience)';
const insertProviders = sql(
  'directory_insert_providers',
  `insert into directory_providers (issuer, audience, institution_id, claimed_at)
   select given.issuer, given.audience, i.institution_id, $4 from ${providersGiven}
   join directory_institutions i on i.institution_id = given.institution_id
   where not exists (select from directory_providers known
                     where known.issuer = given.issuer and known.audience = given.audience)
   order by 1, 2 on conflict do nothing`,
);
const strangeProviders = sql(
  'directory_strange_providers',
  `select given.issuer, i.code, i.cell from ${providersGiven}
   join directory_providers p on p.issuer = given.issuer and p.audience = given.audience
     and p.institution_id <> given.institution_id
   join directory_institutions i on i.institution_id = p.institution_id order by 1`,
);

export async function publishProviders(
  db: Directory,
  providers: readonly PublishedProvider[],
  at: Date,
): Promise<{ readonly added: number; readonly conflicts: readonly string[] }> {
  const given = columnsOf(providers, 'institutionId', 'issuer', 'audience');
  const { rowCount: added } = await db.query(insertProviders, [...given, at]);
  const { rows } = await db.query<{ issuer: string; code: string; cell: string }>(strangeProviders, given);
  return {
    added,
    conflicts: rows.map(
      ({ issuer, code, cell }) =>
        `The issuer ${issuer} is registered for its audience by the institution "${code}" of the cell "${cell}".`,
    ),
  };
}

/** Institutions of the cell alone lose names: those that the given ones left out, and that were claimed before. */
const ofTheCell = `select i.institution_id from directory_institutions i
                   where i.cell = $3 and i.institution_id = any ($4::integer[])`;
const deleteHosts = sql(
  'directory_delete_hosts',
  `delete from directory_hosts h
   where h.institution_id in (${ofTheCell}) and h.claimed_at < $5
     and not exists (select from ${hostsGiven}
                     where given.institution_id = h.institution_id and given.host = h.host)`,
);
const deleteClients = sql(
  'directory_delete_clients',
  `delete from directory_clients c
   where c.institution_id in (${ofTheCell}) and c.claimed_at < $5
     and not exists (select from ${clientsGiven}
                     where given.institution_id = c.institution_id and given.client_id = c.client_id)`,
);
const deleteProviders = sql(
  'directory_delete_providers',
  `delete from directory_providers p
   where p.institution_id in (${ofTheCell}) and p.claimed_at < $5
     and not exists (select from unnest($1::integer[], $2::text[], $6::text[]) as given (institution_id, issuer, audience)
                     where (given.institution_id, given.issuer, given.audience) = (p.institution_id, p.issuer, p.audience))`,
);

/** Returns the number of names that are gone. */
export async function forgetNames(
  db: Directory,
  {
    cell,
    institutions,
    hosts,
    clients,
    providers,
  }: {
    readonly cell: string;
    readonly institutions: readonly PublishedInstitution[];
    readonly hosts: readonly PublishedHost[];
    readonly clients: readonly PublishedClient[];
    readonly providers: readonly PublishedProvider[];
  },
  claimedBefore: Date,
): Promise<number> {
  const losers = [cell, institutions.map(({ institutionId }) => institutionId), claimedBefore];
  const deleted = [
    await db.query(deleteHosts, [...columnsOf(hosts, 'institutionId', 'host'), ...losers]),
    await db.query(deleteClients, [...columnsOf(clients, 'institutionId', 'clientId'), ...losers]),
    await db.query(deleteProviders, [
      ...columnsOf(providers, 'institutionId', 'issuer'),
      ...losers,
      ...columnsOf(providers, 'audience'),
    ]),
  ];
  return deleted.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
