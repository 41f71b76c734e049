import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  addClientKey,
  type ClientChange,
  type ClientKeyAlgorithm,
  changeClient,
  clientIdRule,
  clientKeyAlgorithms,
  createClient,
  grantTypes,
  IdPrefixTakenError,
  isClientId,
  type ListedClient,
  listClients,
  type RegistrationRefusals,
  readPublicKey,
  registrationRefusals,
  removeClientKey,
  retireSecrets,
  rotateSecret,
  type Scope,
  scopes,
} from '../auth/index.ts';
import {
  CommandError,
  chooseInstitution,
  readNameForPeople,
  readScopes,
  say,
  withContext,
} from './command.ts';

interface Institution {
  readonly institution?: string;
}

const whose = ['--institution <code>', 'code of the institution'] as const;
const idPrefixMeaning =
  'reserved beginnings of transfer ids, for this client and its members only, like payroll-; separated by spaces';
const longestOverlapHours = 24 * 365;

export function clientCommands(): Command[] {
  return [create(), list(), set(), rotate(), retire(), addKey(), removeKey()];
}

/** Options for the rights and the authentication of a client, shared by `create` and `set`. */
interface LearningOptions {
  readonly assertionAudience?: 'issuer' | 'token-endpoint';
  readonly introspection?: 'own' | 'all';
  readonly registrationRefusals?: RegistrationRefusals;
}

interface CreateOptions extends Institution, LearningOptions {
  readonly name?: string;
  readonly scopes?: Scope[];
  readonly grants: string[];
  readonly tokenLifetime?: number;
  readonly networks?: string[];
  readonly idPrefix?: string[];
  readonly key?: string;
  readonly algorithm?: ClientKeyAlgorithm;
}

function create(): Command {
  return new Command('create')
    .description('register an OAuth client; prints its secret, once')
    .argument('<client-id>', clientIdRule, readClientId)
    .option(...whose)
    .option('--name <name>', 'a name for people; default: the client id', readNameForPeople)
    .option('--scopes <scopes>', `required: some of ${scopes.join(', ')}, separated by spaces`, readScopes)
    .addOption(
      new Option('--grants <grants>', 'space separated')
        .argParser(readGrants)
        .default(['client_credentials'], 'client_credentials'),
    )
    .option(
      '--token-lifetime <seconds>',
      'from 60 to 86400; default: the setting of the service',
      readLifetime,
    )
    .option(
      '--networks <networks>',
      'networks (CIDR) from which it may call, separated by spaces',
      readNetworks,
    )
    .option('--id-prefix <prefixes>', idPrefixMeaning, readIdPrefixes)
    .option('--key <file>', 'a public key, PEM or JWK, for authentication without a secret')
    .addOption(algorithmOption())
    .addOption(introspectionOption())
    .addOption(refusalsOption())
    .addOption(audienceOption())
    .action(async (clientId: string, options: CreateOptions, command: Command) => {
      const chosen = options.scopes ?? command.error(scopesNeeded);
      const key = options.key === undefined ? undefined : await readKeyFile(options.key, options.algorithm);
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        const created = await createClient(
          context.auth,
          {
            institutionId,
            clientId,
            name: options.name ?? clientId,
            scopes: chosen,
            grants: options.grants,
            ...learningOf(options),
            ...(options.tokenLifetime !== undefined && { tokenLifetimeSeconds: options.tokenLifetime }),
            ...(options.networks && { networks: options.networks }),
            ...(options.idPrefix && { idPrefixes: options.idPrefix }),
            ...(key && { key }),
          },
          origin,
        ).catch(refuseTaken);
        if (created === undefined) throw new CommandError('The client id is taken.');
        warnOfScopes(chosen);
        const proof = created.secret
          ? `client_secret: ${created.secret}`
          : `kid:           ${key ? key.kid : ''}`;
        say(`client_id:     ${clientId}\n${proof}`);
      });
    });
}

function list(): Command {
  return new Command('list')
    .description('list the clients of an institution with their rights')
    .option('--institution <code>', 'whose clients')
    .action(async (options: Institution) => {
      await withContext(async (context) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        for (const client of await listClients(context.auth, institutionId)) say(describe(client));
      });
    });
}

function describe(client: ListedClient): string {
  const { clientId, name, active, grants, tokenLifetimeSeconds: seconds, networks, secrets, kids } = client;
  return [
    `${clientId} (${name})${active ? '' : ', switched off'}`,
    `  grants    ${grants.join(' ')}`,
    `  scopes    ${client.scopes.join(' ')}`,
    `  lifetime  ${seconds === null ? "the service's" : `${seconds} s`}`,
    `  networks  ${networks?.join(' ') ?? 'any'}`,
    `  learns    ${client.introspectsAll ? 'about all tokens of the institution' : 'about its own tokens'}; ${client.registrationRefusals.toLowerCase()} refusals of registration`,
    `  prefixes  ${client.idPrefixes.join(' ') || 'none'}`,
    `  secrets   ${secrets}`,
    `  keys      ${kids.join(' ') || 'none'}${client.allowsTokenEndpointAudience ? '; aud may be the token endpoint' : ''}`,
  ].join('\n');
}

interface SetOptions extends Institution, LearningOptions {
  readonly name?: string;
  readonly scopes?: Scope[];
  readonly grants?: string[];
  readonly tokenLifetime?: number | 'default';
  readonly networks?: string[] | 'any';
  readonly idPrefix?: string[] | 'none';
  readonly on?: true;
  readonly off?: true;
}

function set(): Command {
  return new Command('set')
    .description('change the rights of a client; options that are left out change nothing')
    .argument('<client-id>')
    .option(...whose)
    .option('--name <name>', 'for people', readNameForPeople)
    .option('--scopes <scopes>', 'space separated', readScopes)
    .option('--grants <grants>', 'space separated', readGrants)
    .option('--token-lifetime <seconds>', "from 60 to 86400, or default: the service's", (text) =>
      text === 'default' ? text : readLifetime(text),
    )
    .option(
      '--networks <networks>',
      'networks (CIDR) from which it may call, separated by spaces, or any',
      (text) => (text === 'any' ? text : readNetworks(text)),
    )
    .option('--id-prefix <prefixes>', `${idPrefixMeaning}; or none`, (text) =>
      text === 'none' ? text : readIdPrefixes(text),
    )
    .addOption(introspectionOption())
    .addOption(refusalsOption())
    .addOption(audienceOption())
    .addOption(new Option('--on', 'switch it on; earlier tokens stay inactive').conflicts('off'))
    .option('--off', 'switch it off; its active tokens end')
    .action(async (clientId: string, options: SetOptions, command: Command) => {
      const { name, grants, tokenLifetime, networks, idPrefix, on, off } = options;
      const change: ClientChange = {
        ...(name !== undefined && { name }),
        ...(options.scopes && { scopes: options.scopes }),
        ...(grants && { grants }),
        ...(tokenLifetime && { tokenLifetimeSeconds: tokenLifetime === 'default' ? null : tokenLifetime }),
        ...(networks && { networks: networks === 'any' ? null : networks }),
        ...(idPrefix && { idPrefixes: idPrefix === 'none' ? [] : idPrefix }),
        ...((on || off) && { active: on === true }),
        ...learningOf(options),
      };
      if (Object.keys(change).length === 0) command.error('error: name at least one option to change');
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        const changed = await changeClient(context.auth, institutionId, { clientId, change, origin }).catch(
          refuseTaken,
        );
        if (!changed) throw noSuchClient();
        if (options.scopes) warnOfScopes(options.scopes);
        say('Done.');
      });
    });
}

function rotate(): Command {
  return new Command('rotate-secret')
    .description('create a second secret and print it, once; the first stays valid for a while')
    .argument('<client-id>')
    .option(...whose)
    .option('--overlap-hours <hours>', 'hours for which the old one stays valid', readHours, 24 * 7)
    .action(async (clientId: string, options: Institution & { readonly overlapHours: number }) => {
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        const overlapMillis = options.overlapHours * 60 * 60_000;
        const rotated = await rotateSecret(context.auth, institutionId, { clientId, overlapMillis, origin });
        if (rotated === 'no_such_client') throw noSuchClient();
        if (rotated === 'two_already') {
          throw new CommandError('Two secrets are valid already: retire the older one first.');
        }
        say(`client_secret: ${rotated.secret}`);
      });
    });
}

function retire(): Command {
  return new Command('retire-secret')
    .description('end the older of two secrets at once')
    .argument('<client-id>')
    .option(...whose)
    .option('--all', 'end every secret: the client then authenticates with its keys alone')
    .action(async (clientId: string, options: Institution & { readonly all?: true }) => {
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        const which = options.all ? 'all' : 'older';
        const retired = await retireSecrets(context.auth, institutionId, { clientId, which, origin });
        if (retired === undefined) throw noSuchClient();
        say(retired === 0 ? 'No secret was left to retire.' : 'Retired.');
      });
    });
}

function addKey(): Command {
  return new Command('add-key')
    .description('register a public key that the client signs assertions with (private_key_jwt)')
    .argument('<client-id>')
    .argument('<file>', 'PEM or JWK')
    .option(...whose)
    .addOption(algorithmOption())
    .action(
      async (
        clientId: string,
        file: string,
        options: Institution & { readonly algorithm?: ClientKeyAlgorithm },
      ) => {
        const key = await readKeyFile(file, options.algorithm);
        await withContext(async (context, origin) => {
          const { institutionId } = await chooseInstitution(context, options.institution);
          const added = await addClientKey(context.auth, institutionId, { clientId, key, origin });
          if (added === 'no_such_client') throw noSuchClient();
          if (added === 'kid_taken') throw new CommandError('The client has a key of this id.');
          say(`kid: ${key.kid}\nalg: ${key.algorithm}`);
        });
      },
    );
}

function removeKey(): Command {
  return new Command('remove-key')
    .description('remove a public key of a client')
    .argument('<client-id>')
    .argument('<kid>')
    .option(...whose)
    .action(async (clientId: string, kid: string, options: Institution) => {
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        if (!(await removeClientKey(context.auth, institutionId, { clientId, kid, origin }))) {
          throw new CommandError('The client has no key with this id.');
        }
        say('Removed.');
      });
    });
}

function algorithmOption(): Option {
  return new Option('--algorithm <alg>', 'the algorithm of the key; default for RSA: RS256').choices(
    clientKeyAlgorithms,
  );
}

function introspectionOption(): Option {
  return new Option(
    '--introspection <tokens>',
    'tokens that it may introspect: its own, or all of the institution',
  ).choices(['own', 'all']);
}

function audienceOption(): Option {
  return new Option(
    '--assertion-audience <kind>',
    'accepted aud of its assertions: the issuer, or also the token endpoint, for a library that cannot send the issuer',
  ).choices(['issuer', 'token-endpoint']);
}

function refusalsOption(): Option {
  return new Option(
    '--registration-refusals <kind>',
    'uniform gives all refused registrations one response; distinct gives the reason, for a client that may know members',
  ).argParser(readRefusals);
}

function readRefusals(text: string): RegistrationRefusals {
  const kind = registrationRefusals.find((one) => one.toLowerCase() === text);
  if (kind === undefined) throw new InvalidArgumentError('Allowed choices are uniform, distinct.');
  return kind;
}

function learningOf({ introspection, registrationRefusals: refusals, assertionAudience }: LearningOptions) {
  return {
    ...(assertionAudience && { allowsTokenEndpointAudience: assertionAudience === 'token-endpoint' }),
    ...(introspection && { introspectsAll: introspection === 'all' }),
    ...(refusals && { registrationRefusals: refusals }),
  };
}

const scopesNeeded = `error: name the --scopes of the client, separated by spaces: ${scopes.join(', ')}`;

/** With both scopes, one client can register a member, take the activation code and choose the password. */
function warnOfScopes(chosen: readonly Scope[]): void {
  if (!chosen.includes('events:read') || !chosen.includes('institution-users:write')) return;
  process.stderr.write(
    'warning: with events:read and institution-users:write together this client can register a member, take the activation code and choose the password. Give them to different clients (docs/security.md).\n',
  );
}

async function readKeyFile(file: string, algorithm: ClientKeyAlgorithm | undefined) {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandError(`${file} cannot be read.`);
  });
  return readPublicKey(text, algorithm);
}

function readClientId(text: string): string {
  if (!isClientId(text)) throw new InvalidArgumentError(`Must have ${clientIdRule}.`);
  return text;
}

function readGrants(text: string): string[] {
  const named = text.split(/\s+/);
  if (!named.every((name) => grantTypes.includes(name))) {
    throw new InvalidArgumentError(`Grants are ${grantTypes.join(', ')}.`);
  }
  return named;
}

function readLifetime(text: string): number {
  const seconds = /^[0-9]{2,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 60 || seconds > 86_400) throw new InvalidArgumentError('From 60 to 86400.');
  return seconds;
}

/** The database has the same rule. A prefix of generated ids would lock other clients out of those ids. */
function readIdPrefixes(text: string): string[] {
  const prefixes = [...new Set(text.split(/\s+/))];
  const isPrefix = (one: string) =>
    /^[A-Za-z0-9][A-Za-z0-9._:-]{1,31}$/.test(one) &&
    /[^0-9a-f-]/.test(one) &&
    !one.startsWith('key:') &&
    !'key:'.startsWith(one);
  if (prefixes.every(isPrefix)) return prefixes;
  throw new InvalidArgumentError(
    'A prefix has 2 to 32 letters, digits and . _ : - with one beyond 0-9, a-f and -. It does not begin with key:.',
  );
}

function readHours(text: string): number {
  const hours = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(hours <= longestOverlapHours))
    throw new InvalidArgumentError(`Must be from 0 to ${longestOverlapHours}.`);
  return hours;
}

function readNetworks(text: string): string[] {
  return text.split(/\s+/).map((network) => {
    const [address = '', bits = ''] = network.split('/');
    const most = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const mapped = /^::ffff:/i.test(address);
    const valid = !mapped && (bits === '' || /^[0-9]{1,3}$/.test(bits)) && Number(bits) <= most;
    if (!valid) throw new InvalidArgumentError('Networks are like 192.0.2.0/24 or 2001:db8::/32.');
    return network;
  });
}

function refuseTaken(error: unknown): never {
  throw error instanceof IdPrefixTakenError ? new CommandError(error.message) : error;
}

function noSuchClient(): CommandError {
  return new CommandError('The client does not exist in this institution.');
}
