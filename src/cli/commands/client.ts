import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
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
  isRedirectUri,
  type ListedClient,
  listClients,
  type RegistrationRefusals,
  readPublicKey,
  redirectUriRule,
  removeClientKey,
  retireSecrets,
  rotateSecret,
  type Scope,
  type SecurityProfile,
  scopes,
} from '../../auth/index.ts';
import { requireLogoutUri } from '../../logouts/index.ts';
import { defined } from '../../shared/defined.ts';
import { isNetwork } from '../../shared/text/network.ts';
import { accepting, listOf, readNameForPeople, readScopes, unless, wholeNumber } from '../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  institutionOption,
  onInstitution,
  say,
  withInstitution,
} from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayEach } from '../output.ts';
import { clientCertificateCommands, noSuchClient, readCertificateFile } from './client-certificates.ts';

const longestOverlapHours = 24 * 365;

export function clientCommands(): Command[] {
  return [
    ...[create(), list(), set(), rotate(), retire(), addKey(), removeKey()],
    ...clientCertificateCommands(),
  ];
}

/** Options of `create` and `set`: the rights and the authentication of a client. */
interface RightsOptions extends InstitutionOptions {
  readonly name?: string;
  readonly scopes?: Scope[];
  readonly grants?: string[];
  readonly tokenLifetime?: number | 'default';
  readonly networks?: string[] | 'any';
  readonly idPrefix?: string[] | 'none';
  readonly assertionAudience?: 'issuer' | 'token-endpoint';
  readonly introspection?: 'own' | 'all';
  readonly registrationRefusals?: 'uniform' | 'distinct';
  readonly redirectUris?: string[] | 'none';
  readonly logoutUris?: string[] | 'none';
  readonly backchannelLogoutUri?: string;
  readonly secrecy?: 'confidential' | 'public';
  readonly consent?: 'asked' | 'first-party';
  readonly tokens?: 'bearer' | 'bound' | 'certificate';
  readonly profile?: 'standard' | 'fapi2';
}

function withRights(command: Command): Command {
  return command
    .option(...institutionOption)
    .option('--name <name>', 'a name for people; default of a new client: its id', readNameForPeople)
    .option('--scopes <scopes>', `some of ${scopes.join(', ')}, separated by spaces`, readScopes)
    .option(
      '--grants <grants>',
      'separated by spaces; default of a new client: client_credentials',
      listOf(accepting((name) => grantTypes.includes(name), `Grants are ${grantTypes.join(', ')}.`)),
    )
    .option(
      '--token-lifetime <seconds>',
      "from 60 to 86400, or default: the service's",
      unless('default', wholeNumber(60, 86_400, 'From 60 to 86400.')),
    )
    .option(
      '--networks <networks>',
      'networks (CIDR) from which it may call, separated by spaces, or any',
      unless('any', listOf(accepting(isClientNetwork, networksExpected))),
    )
    .option(
      '--id-prefix <prefixes>',
      'reserved beginnings of transfer ids, for this client and its members only, like payroll-; separated by spaces; or none',
      unless('none', listOf(accepting(isIdPrefix, idPrefixRule))),
    )
    .option(
      '--redirect-uris <addresses>',
      'addresses to which a member returns with a code, separated by spaces, or none',
      unless('none', listOf(accepting(isRedirectUri, `${redirectUriRule}.`))),
    )
    .option(
      '--logout-uris <addresses>',
      'addresses to which a member returns from a logout, separated by spaces, or none',
      unless('none', listOf(accepting(isRedirectUri, `${redirectUriRule}.`))),
    )
    .option(
      '--backchannel-logout-uri <address>',
      "address that hears of the end of a member's session in the browser, or none",
    )
    .addOption(
      new Option(
        '--secrecy <kind>',
        'public is an app on a device, which has no secret and uses codes only',
      ).choices(['confidential', 'public']),
    )
    .addOption(
      new Option(
        '--consent <kind>',
        'first-party is an app of the institution itself, which asks no member for consent',
      ).choices(['asked', 'first-party']),
    )
    .addOption(
      new Option(
        '--profile <profile>',
        'fapi2 is the FAPI 2.0 Security Profile: bound tokens (as they are, or to its certificate, or else to a key), pushed requests, a key or a certificate instead of a secret, no password grant',
      ).choices(['standard', 'fapi2']),
    )
    .addOption(
      new Option(
        '--tokens <kind>',
        'bound: every token needs a key of the app, which proves it with each request (DPoP); certificate: every token needs the certificate of its connection (mutual TLS); bearer: as the app likes',
      ).choices(['bearer', 'bound', 'certificate']),
    )
    .addOption(
      new Option(
        '--introspection <tokens>',
        'tokens that it may introspect: its own, or all of the institution',
      ).choices(['own', 'all']),
    )
    .addOption(
      new Option(
        '--registration-refusals <kind>',
        'uniform gives all refused registrations one response; distinct gives the reason, for a client that may know members',
      ).choices(['uniform', 'distinct']),
    )
    .addOption(
      new Option(
        '--assertion-audience <kind>',
        'accepted aud of its assertions: the issuer, or also the token endpoint, for a library that cannot send the issuer',
      ).choices(['issuer', 'token-endpoint']),
    );
}

const networksExpected = 'Networks are like 192.0.2.0/24 or 2001:db8::/32.';

/** An IPv4 network is written as IPv4, not as mapped into IPv6. */
function isClientNetwork(text: string): boolean {
  return isNetwork(text) && !/^::ffff:/i.test(text);
}

const idPrefixRule =
  'A prefix has 2 to 32 letters, digits and . _ : - with one beyond 0-9, a-f and -. It does not begin with key:.';

/** The database has the same rule. A prefix of generated ids would lock other clients out of those ids. */
function isIdPrefix(text: string): boolean {
  return (
    /^[A-Za-z0-9][A-Za-z0-9._:-]{1,31}$/.test(text) &&
    /[^0-9a-f-]/.test(text) &&
    !text.startsWith('key:') &&
    !'key:'.startsWith(text)
  );
}

function changeOf(options: RightsOptions): ClientChange {
  const { name, grants, tokenLifetime, networks, idPrefix, introspection, assertionAudience } = options;
  const { redirectUris, logoutUris, backchannelLogoutUri, secrecy, consent, tokens, profile } = options;
  return defined({
    name,
    scopes: options.scopes,
    grants,
    networks: networks === 'any' ? null : networks,
    tokenLifetimeSeconds: tokenLifetime === 'default' ? null : tokenLifetime,
    idPrefixes: idPrefix === 'none' ? [] : idPrefix && [...new Set(idPrefix)],
    redirectUris: redirectUris === 'none' ? [] : redirectUris,
    logoutUris: logoutUris === 'none' ? [] : logoutUris,
    backchannelLogoutUri: backchannelLogoutUri === 'none' ? null : backchannelLogoutUri,
    isPublic: secrecy && secrecy === 'public',
    isFirstParty: consent && consent === 'first-party',
    requiresDpop: tokens && tokens === 'bound',
    bindsToCertificate: tokens && tokens === 'certificate',
    securityProfile: profile?.toUpperCase() as SecurityProfile | undefined,
    introspectsAll: introspection && introspection === 'all',
    registrationRefusals: options.registrationRefusals?.toUpperCase() as RegistrationRefusals | undefined,
    allowsTokenEndpointAudience: assertionAudience && assertionAudience === 'token-endpoint',
  });
}

async function requireAddress(
  { context, institutionId }: InstitutionRun,
  { backchannelLogoutUri: uri }: ClientChange,
): Promise<void> {
  if (typeof uri === 'string') await requireLogoutUri(context.webhooks, institutionId, uri);
}

interface CreateOptions extends RightsOptions {
  readonly key?: string;
  readonly algorithm?: ClientKeyAlgorithm;
  readonly certificate?: string;
}

const scopesNeeded = `error: name the --scopes of the client, separated by spaces: ${scopes.join(', ')}`;

function create(): Command {
  return withRights(
    new Command('create')
      .description('register an OAuth client; prints its secret, once')
      .argument('<client-id>', clientIdRule, accepting(isClientId, `Must have ${clientIdRule}.`)),
  )
    .option('--key <file>', 'a public key, PEM or JWK, for authentication without a secret')
    .addOption(algorithmOption())
    .option('--certificate <file>', 'a certificate, PEM, for authentication by mutual TLS without a secret')
    .action(async (clientId: string, options: CreateOptions, command: Command) => {
      const { name = clientId, grants = ['client_credentials'] } = options;
      const chosen = options.scopes ?? command.error(scopesNeeded);
      const key = options.key === undefined ? undefined : await readKeyFile(options.key, options.algorithm);
      const { certificate: file } = options;
      await withInstitution(command, async (run) => {
        const { auth, institutionId, origin } = run;
        const certificate = file === undefined ? undefined : await readCertificateFile(file, auth.clock());
        const rights = { ...changeOf(options), name, grants, scopes: chosen };
        await requireAddress(run, rights);
        const client = { institutionId, clientId, ...rights, ...defined({ key, certificate }) };
        const created = await createClient(auth, client, origin).catch(refuseTaken);
        if (created === undefined) throw new CommandError('The client id is taken.');
        warnOfScopes(chosen);
        say(
          [
            `client_id:     ${clientId}`,
            ...(created.secret ? [`client_secret: ${created.secret}`] : []),
            ...(key ? [`kid:           ${key.kid}`] : []),
            ...(certificate ? [`x5t#S256:      ${certificate.thumbprint}`] : []),
          ].join('\n'),
        );
      });
    });
}

function list(): Command {
  return onInstitution(
    new Command('list')
      .description('list the clients of an institution with their rights')
      .addOption(jsonOption()),
    async ({ auth, institutionId }, options: InstitutionOptions & OutputOptions) => {
      const clients = await listClients(auth, institutionId);
      const none = 'The institution has no client. `sharedraft client create` makes one.';
      await sayEach(clients, { text: describe, document: (client) => ({ ...client }), none }, options);
    },
  );
}

function describe(client: ListedClient): string {
  const { redirectUris, logoutUris, isPublic, isFirstParty } = client;
  const { clientId, name, active, grants, tokenLifetimeSeconds: seconds, networks, secrets, kids } = client;
  return [
    `${clientId} (${name})${active ? '' : ', switched off'}`,
    `  grants    ${grants.join(' ')}`,
    `  scopes    ${client.scopes.join(' ')}`,
    `  lifetime  ${seconds === null ? "the service's" : `${seconds} s`}`,
    `  networks  ${networks?.join(' ') ?? 'any'}`,
    `  learns    ${client.introspectsAll ? 'about all tokens of the institution' : 'about its own tokens'}; ${client.registrationRefusals.toLowerCase()} refusals of registration`,
    `  prefixes  ${client.idPrefixes.join(' ') || 'none'}`,
    `  returns   ${[...redirectUris, ...logoutUris].join(' ') || 'nowhere'}`,
    `  logouts   ${client.backchannelLogoutUri ?? 'not told'}`,
    `  consent   ${isFirstParty ? 'not asked: an app of the institution' : 'asked'}`,
    `  tokens    ${tokensOf(client)}`,
    `  profile   ${client.securityProfile === 'FAPI2' ? 'FAPI 2.0 Security Profile' : 'standard'}`,
    `  secrets   ${isPublic ? 'none: a public client' : secrets}`,
    `  keys      ${kids.join(' ') || 'none'}${client.allowsTokenEndpointAudience ? '; aud may be the token endpoint' : ''}`,
    `  mTLS      ${client.certificateThumbprints.join(' ') || 'no certificate'}`,
  ].join('\n');
}

function tokensOf({ requiresDpop, bindsToCertificate }: ListedClient): string {
  if (bindsToCertificate) return 'bound to its certificate (mutual TLS)';
  return requiresDpop ? 'bound to a key (DPoP)' : 'bearer, or bound to a key';
}

interface SetOptions extends RightsOptions, ConfirmOptions {
  readonly on?: true;
  readonly off?: true;
}

function set(): Command {
  return withRights(
    new Command('set')
      .description('change the rights of a client; options that are left out change nothing')
      .argument('<client-id>'),
  )
    .addOption(new Option('--on', 'switch it on; earlier tokens stay inactive').conflicts('off'))
    .option('--off', 'switch it off; its active tokens end')
    .addOption(yesOption())
    .action(async (clientId: string, options: SetOptions, command: Command) => {
      const { on, off } = options;
      const change = { ...changeOf(options), ...((on || off) && { active: on === true }) };
      if (Object.keys(change).length === 0) command.error('error: name at least one option to change');
      if (off)
        await confirm(
          `${clientId} is switched off: its tokens and those of its members end at once.`,
          options,
        );
      await withInstitution(command, async (run) => {
        const { auth, institutionId, origin } = run;
        await requireAddress(run, change);
        const changing = changeClient(auth, institutionId, { clientId, change, origin });
        if (!(await changing.catch(refuseTaken))) throw noSuchClient();
        if (options.scopes) warnOfScopes(options.scopes);
        say('Done.');
      });
    });
}

function rotate(): Command {
  return onInstitution(
    new Command('rotate-secret')
      .description('create a second secret and print it, once; the first stays valid for a while')
      .argument('<client-id>')
      .option(
        '--overlap-hours <hours>',
        'hours for which the old one stays valid',
        wholeNumber(0, longestOverlapHours, `Must be from 0 to ${longestOverlapHours}.`),
        24 * 7,
      ),
    async (
      { auth, institutionId, origin },
      { overlapHours }: InstitutionOptions & { readonly overlapHours: number },
      clientId: string,
    ) => {
      const overlapMillis = overlapHours * 60 * 60_000;
      const rotated = await rotateSecret(auth, institutionId, { clientId, overlapMillis, origin });
      if (rotated === 'no_such_client') throw noSuchClient();
      if (rotated === 'two_already') {
        throw new CommandError('Two secrets are valid already: retire the older one first.');
      }
      say(`client_secret: ${rotated.secret}`);
    },
  );
}

function retire(): Command {
  return onInstitution(
    new Command('retire-secret')
      .description('end the older of two secrets at once')
      .argument('<client-id>')
      .option('--all', 'end every secret: the client then authenticates with its keys alone')
      .addOption(yesOption()),
    async (
      { auth, institutionId, origin },
      { all, ...options }: InstitutionOptions & ConfirmOptions & { readonly all?: true },
      clientId: string,
    ) => {
      const effect = all ? `Every secret of ${clientId} ends` : `The older secret of ${clientId} ends`;
      await confirm(`${effect}: a caller that still uses it is refused.`, options);
      const which = all ? 'all' : 'older';
      const retired = await retireSecrets(auth, institutionId, { clientId, which, origin });
      if (retired === undefined) throw noSuchClient();
      say(retired === 0 ? 'No secret was left to retire.' : 'Retired.');
    },
  );
}

function addKey(): Command {
  return onInstitution(
    new Command('add-key')
      .description('register a public key that the client signs assertions with (private_key_jwt)')
      .argument('<client-id>')
      .argument('<file>', 'PEM or JWK')
      .addOption(algorithmOption()),
    async (
      { auth, institutionId, origin },
      { algorithm }: InstitutionOptions & { readonly algorithm?: ClientKeyAlgorithm },
      clientId: string,
      file: string,
    ) => {
      const key = await readKeyFile(file, algorithm);
      const added = await addClientKey(auth, institutionId, { clientId, key, origin });
      if (added === 'no_such_client') throw noSuchClient();
      if (added === 'kid_taken') throw new CommandError('The client has a key of this id.');
      say(`kid: ${key.kid}\nalg: ${key.algorithm}`);
    },
  );
}

function removeKey(): Command {
  return onInstitution(
    new Command('remove-key')
      .description('remove a public key of a client')
      .argument('<client-id>')
      .argument('<kid>')
      .addOption(yesOption()),
    async (
      { auth, institutionId, origin },
      options: InstitutionOptions & ConfirmOptions,
      clientId: string,
      kid: string,
    ) => {
      await confirm(`${clientId} can no longer authenticate with the key ${kid}.`, options);
      if (!(await removeClientKey(auth, institutionId, { clientId, kid, origin }))) {
        throw new CommandError('The client has no key with this id.');
      }
      say('Removed.');
    },
  );
}

function algorithmOption(): Option {
  return new Option('--algorithm <alg>', 'the algorithm of the key; default for RSA: RS256').choices(
    clientKeyAlgorithms,
  );
}

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

function refuseTaken(error: unknown): never {
  throw error instanceof IdPrefixTakenError ? new CommandError(error.message) : error;
}
