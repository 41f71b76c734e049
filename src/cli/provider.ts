import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  addProvider,
  changeProvider,
  listProviders,
  type Provider,
  type ProviderKind,
  type PublicJwk,
  providerKinds,
  readCertificates,
  readJwks,
  removeProvider,
} from '../auth/index.ts';
import { type UserIdType, userIdTypes } from '../members/index.ts';
import { isPublicId } from '../shared/public-id.ts';
import { CommandError, chooseInstitution, readScopes, say, withContext } from './command.ts';

interface Settings {
  readonly institution?: string;
  readonly keys?: string;
  readonly claim?: string;
  readonly nameIdFormat?: string;
  readonly userIdType?: UserIdType;
  readonly scopes?: ReturnType<typeof readScopes>;
  readonly resourceTokens?: boolean;
  readonly tokenType?: string;
}

interface AddOptions extends Settings {
  readonly kind: ProviderKind;
  readonly issuer: string;
  readonly audience?: string;
  readonly keys: string;
  readonly userIdType: UserIdType;
}

/** Short names of formats; any other format is given as a URI. */
const nameIdFormats: Readonly<Record<string, string>> = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
};

const example = `
Example:
  sharedraft provider add online-banking --kind jwt --issuer https://login.bank.example \\
    --keys jwks.json --claim member_number --user-id-type MEMBER_NUMBER --scopes "account:read transfer:write"
docs/identity.md has the whole of it.`;

export function providerCommands(): Command[] {
  return [
    withSettings(
      new Command('add')
        .description(
          'register an identity provider, whose assertions and tokens of members are then accepted',
        )
        .argument('<provider-id>', 'a name for it, 1 to 64 letters, digits or . _ : -', readProviderId)
        .addOption(
          new Option('--kind <kind>', 'what it signs').choices([...providerKinds]).makeOptionMandatory(),
        )
        .requiredOption('--issuer <issuer>', 'iss of its JWTs, or its SAML entity ID', readName)
        .option(
          '--audience <audience>',
          'the audience of its assertions and tokens; default: PUBLIC_URL',
          readName,
        ),
      { mandatory: true },
    )
      .addHelpText('after', example)
      .action(add),
    new Command('list')
      .description('list the identity providers of an institution')
      .option('--institution <code>', 'whose they are')
      .action(list),
    withSettings(
      new Command('set')
        .description('change a provider; identities asserted before the change end within a second')
        .argument('<provider-id>', 'which one'),
      { mandatory: false },
    ).action(set),
    switching('on', 'accept a provider again', true),
    switching('off', 'stop accepting a provider; identities that it asserted end within a second', false),
    new Command('remove')
      .description('remove a provider; identities that it asserted end within a second')
      .argument('<provider-id>', 'which one')
      .option('--institution <code>', 'whose it is')
      .action(async (providerId: string, options: Settings) => {
        await withContext(async (context, origin) => {
          const { institutionId } = await chooseInstitution(context, options.institution);
          await removeProvider(context.auth, institutionId, { providerId, origin });
          say('Removed.');
        });
      }),
  ];
}

function withSettings(command: Command, { mandatory }: { readonly mandatory: boolean }): Command {
  return command
    .addOption(
      new Option(
        '--keys <file>',
        'its public keys, - for standard input: a JWK Set, or certificates in PEM with --kind saml',
      ).makeOptionMandatory(mandatory),
    )
    .option('--claim <name>', 'the claim of its JWTs that names the member (sub)', readClaim)
    .option(
      '--name-id-format <format>',
      `the format of the NameID that names the member: ${Object.keys(nameIdFormats).join(', ')} or a URI (persistent)`,
      readNameIdFormat,
    )
    .addOption(
      new Option('--user-id-type <type>', 'the kind of that id')
        .choices([...userIdTypes])
        .makeOptionMandatory(mandatory),
    )
    .addOption(
      new Option('--scopes <scopes>', 'the most scopes that its members may have, separated by spaces')
        .argParser(readScopes)
        .makeOptionMandatory(mandatory),
    )
    .option('--resource-tokens', 'accept its own access tokens (RFC 9068)')
    .option('--no-resource-tokens', 'refuse its own access tokens (default)')
    .option('--token-type <typ>', 'the required typ of its access tokens (at+jwt)', readTokenType)
    .option('--institution <code>', 'code of the institution');
}

async function add(providerId: string, options: AddOptions): Promise<void> {
  const { kind, issuer } = options;
  const keys = await readKeys(kind, options.keys);
  const subjectFrom = subjectOf(kind, options) ?? (kind === 'jwt' ? 'sub' : nameIdFormats.persistent);
  await withContext(async (context, origin) => {
    const { institutionId } = await chooseInstitution(context, options.institution);
    const audience = options.audience ?? context.auth.issuer;
    const provider = {
      providerId,
      kind,
      issuer,
      audience,
      keys,
      subjectFrom: subjectFrom as string,
      userIdType: options.userIdType,
      scopes: options.scopes ?? [],
      resourceTokens: options.resourceTokens ?? false,
      tokenType: options.tokenType ?? 'at+jwt',
      active: true,
    };
    await addProvider(context.auth, institutionId, { provider, origin });
    say(`Registered ${providerId}, for assertions of ${issuer} with the audience ${audience}.`);
  });
}

async function set(providerId: string, options: Settings): Promise<void> {
  await withContext(async (context, origin) => {
    const { institutionId } = await chooseInstitution(context, options.institution);
    const known = await listProviders(context.auth, institutionId);
    const kind = known.find((provider) => provider.providerId === providerId)?.kind;
    if (kind === undefined) throw new CommandError('The provider does not exist in this institution.');
    const keys = options.keys === undefined ? undefined : await readKeys(kind, options.keys);
    const subjectFrom = subjectOf(kind, options);
    const { userIdType, scopes, resourceTokens, tokenType } = options;
    const change = {
      ...(keys && { keys }),
      ...(subjectFrom !== undefined && { subjectFrom }),
      ...(userIdType !== undefined && { userIdType }),
      ...(scopes !== undefined && { scopes }),
      ...(resourceTokens !== undefined && { resourceTokens }),
      ...(tokenType !== undefined && { tokenType }),
    };
    if (Object.keys(change).length === 0)
      throw new CommandError('Name at least one option to change: --help lists them.');
    await changeProvider(context.auth, institutionId, { providerId, settings: change, origin });
    say('Changed.');
  });
}

function switching(name: 'on' | 'off', description: string, active: boolean): Command {
  return new Command(name)
    .description(description)
    .argument('<provider-id>', 'which one')
    .option('--institution <code>', 'whose it is')
    .action(async (providerId: string, options: Settings) => {
      await withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        await changeProvider(context.auth, institutionId, { providerId, settings: { active }, origin });
        say(`Switched ${name}.`);
      });
    });
}

async function list(options: Settings): Promise<void> {
  await withContext(async (context) => {
    const { institutionId, name } = await chooseInstitution(context, options.institution);
    const providers = await listProviders(context.auth, institutionId);
    say(providers.length === 0 ? `${name} has no identity providers.` : providers.map(describe).join('\n\n'));
  });
}

function describe(provider: Provider): string {
  const source = provider.kind === 'jwt' ? 'claim' : 'NameID of the format';
  return [
    `${provider.providerId} (${provider.kind}, ${provider.active ? 'on' : 'off'})`,
    `  issuer           ${provider.issuer}`,
    `  audience         ${provider.audience}`,
    `  names members    by the ${source} ${provider.subjectFrom}, as ${provider.userIdType}`,
    `  scopes           ${provider.scopes.join(' ')}`,
    `  resource tokens  ${provider.resourceTokens ? `accepted, typ ${provider.tokenType}` : 'not accepted'}`,
    ...provider.keys.map(
      (key) => `  key              ${[key.kid, key.kty, key.crv, key.alg].filter(Boolean).join(' ')}`,
    ),
  ].join('\n');
}

async function readKeys(kind: ProviderKind, file: string): Promise<PublicJwk[]> {
  const text = file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8').catch(unreadable);
  return kind === 'jwt' ? readJwks(text) : readCertificates(text);
}

function unreadable(error: NodeJS.ErrnoException): never {
  throw new CommandError(`The keys cannot be read: ${error.code}.`);
}

/** Refuses an option of the other kind of provider. */
function subjectOf(kind: ProviderKind, options: Settings): string | undefined {
  if (kind === 'jwt' && options.nameIdFormat !== undefined) {
    throw new CommandError('--name-id-format is for providers of the kind saml.');
  }
  if (kind === 'saml' && options.claim !== undefined) throw new CommandError(onlyJwt('--claim'));
  if (kind === 'saml' && options.tokenType !== undefined) throw new CommandError(onlyJwt('--token-type'));
  if (kind === 'saml' && options.resourceTokens === true)
    throw new CommandError(onlyJwt('--resource-tokens'));
  return options.claim ?? options.nameIdFormat;
}

function onlyJwt(option: string): string {
  return `${option} is for providers of the kind jwt.`;
}

function readProviderId(text: string): string {
  if (isPublicId(text)) return text;
  throw new InvalidArgumentError('1 to 64 letters, digits or . _ : -, the first a letter or digit.');
}

function readName(text: string): string {
  if (/^[!-~]{1,1024}$/.test(text)) return text;
  throw new InvalidArgumentError('1 to 1024 visible ASCII characters.');
}

function readClaim(text: string): string {
  if (/^[!-~]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('1 to 255 visible ASCII characters.');
}

function readNameIdFormat(text: string): string {
  const known = Object.hasOwn(nameIdFormats, text) ? nameIdFormats[text] : text;
  if (known !== undefined && /^[a-z]+:[!-~]{1,250}$/.test(known)) return known;
  throw new InvalidArgumentError(`${Object.keys(nameIdFormats).join(', ')} or a URI.`);
}

function readTokenType(text: string): string {
  const typ = text.replace(/^application\//i, '');
  if (/^[A-Za-z0-9.+/-]{1,64}$/.test(typ)) return typ;
  throw new InvalidArgumentError('a media type, like at+jwt.');
}
