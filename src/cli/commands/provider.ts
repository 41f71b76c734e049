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
} from '../../auth/index.ts';
import { type UserIdType, userIdTypes } from '../../members/index.ts';
import { defined } from '../../shared/defined.ts';
import { publicId } from '../../shared/public-id.ts';
import { matching, readScopes } from '../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayEach } from '../output.ts';

interface Settings extends InstitutionOptions {
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
    onInstitution(
      withSettings(
        new Command('add')
          .description(
            'register an identity provider, whose assertions and tokens of members are then accepted',
          )
          .argument(
            '<provider-id>',
            'a name for it, 1 to 64 letters, digits or . _ : -',
            matching(publicId, '1 to 64 letters, digits or . _ : -, the first a letter or digit.'),
          )
          .addOption(
            new Option('--kind <kind>', 'what it signs').choices([...providerKinds]).makeOptionMandatory(),
          )
          .requiredOption('--issuer <issuer>', 'iss of its JWTs, or its SAML entity ID', readName)
          .option(
            '--audience <audience>',
            'the audience of its assertions and tokens; default: PUBLIC_URL',
            readName,
          )
          .addHelpText('after', example),
        { mandatory: true },
      ),
      add,
    ),
    onInstitution(
      new Command('list')
        .description('list the identity providers of an institution')
        .addOption(jsonOption()),
      list,
    ),
    onInstitution(
      withSettings(
        named('set', 'change a provider; identities asserted before the change end within a second'),
        { mandatory: false },
      ),
      set,
    ),
    switching('on', 'accept a provider again', true),
    switching('off', 'stop accepting a provider; identities that it asserted end within a second', false),
    onInstitution(
      named('remove', 'remove a provider; identities that it asserted end within a second').addOption(
        yesOption(),
      ),
      async ({ auth, institutionId, origin }, options: Settings & ConfirmOptions, providerId: string) => {
        await confirm(`${providerId} is removed: the sessions of members that it asserted end.`, options);
        await removeProvider(auth, institutionId, { providerId, origin });
        say('Removed.');
      },
    ),
  ];
}

function named(name: string, description: string): Command {
  return new Command(name).description(description).argument('<provider-id>', 'which one');
}

function withSettings(command: Command, { mandatory }: { readonly mandatory: boolean }): Command {
  return command
    .addOption(
      new Option(
        '--keys <file>',
        'its public keys, - for standard input: a JWK Set, or certificates in PEM with --kind saml',
      ).makeOptionMandatory(mandatory),
    )
    .option(
      '--claim <name>',
      'the claim of its JWTs that names the member (sub)',
      matching(/^[!-~]{1,255}$/, '1 to 255 visible ASCII characters.'),
    )
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
    .option('--token-type <typ>', 'the required typ of its access tokens (at+jwt)', readTokenType);
}

async function add(
  { auth, institutionId, origin }: InstitutionRun,
  options: AddOptions,
  providerId: string,
): Promise<void> {
  const { kind, issuer, audience = auth.issuer, userIdType } = options;
  const keys = await readKeys(kind, options.keys);
  const subjectFrom = subjectOf(kind, options) ?? (kind === 'jwt' ? 'sub' : nameIdFormats.persistent);
  const provider = {
    ...{ providerId, kind, issuer, audience, keys, userIdType, active: true },
    subjectFrom: subjectFrom as string,
    scopes: options.scopes ?? [],
    resourceTokens: options.resourceTokens ?? false,
    tokenType: options.tokenType ?? 'at+jwt',
  };
  await addProvider(auth, institutionId, { provider, origin });
  say(`Registered ${providerId}, for assertions of ${issuer} with the audience ${audience}.`);
}

async function set(
  { auth, institutionId, origin }: InstitutionRun,
  options: Settings,
  providerId: string,
): Promise<void> {
  const known = await listProviders(auth, institutionId);
  const kind = known.find((provider) => provider.providerId === providerId)?.kind;
  if (kind === undefined) throw new CommandError('The provider does not exist in this institution.');
  const { userIdType, scopes, resourceTokens, tokenType } = options;
  const keys = options.keys === undefined ? undefined : await readKeys(kind, options.keys);
  const subjectFrom = subjectOf(kind, options);
  const settings = defined({ keys, subjectFrom, userIdType, scopes, resourceTokens, tokenType });
  if (Object.keys(settings).length === 0)
    throw new CommandError('Name at least one option to change: --help lists them.');
  await changeProvider(auth, institutionId, { providerId, settings, origin });
  say('Changed.');
}

function switching(name: 'on' | 'off', description: string, active: boolean): Command {
  return onInstitution(
    active ? named(name, description) : named(name, description).addOption(yesOption()),
    async ({ auth, institutionId, origin }, options: Settings & ConfirmOptions, providerId: string) => {
      if (!active)
        await confirm(
          `${providerId} is switched off: the sessions of members that it asserted end.`,
          options,
        );
      await changeProvider(auth, institutionId, { providerId, settings: { active }, origin });
      say(`Switched ${name}.`);
    },
  );
}

async function list(
  { auth, institutionId, institution }: InstitutionRun,
  options: InstitutionOptions & OutputOptions,
): Promise<void> {
  const providers = await listProviders(auth, institutionId);
  const none = `${institution.name} has no identity providers.`;
  await sayEach(providers, { text: describe, document: documentOf, none }, options);
}

function documentOf({ institutionId: _institutionId, ...provider }: Provider) {
  return provider;
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

/** Throws CommandError for an option of the other kind of provider. */
function subjectOf(kind: ProviderKind, options: Settings): string | undefined {
  const ofOtherKind = {
    jwt: { '--name-id-format': options.nameIdFormat },
    saml: {
      '--claim': options.claim,
      '--token-type': options.tokenType,
      '--resource-tokens': options.resourceTokens || undefined,
    },
  };
  const [wrong] = Object.keys(defined(ofOtherKind[kind]));
  if (wrong === undefined) return options.claim ?? options.nameIdFormat;
  throw new CommandError(`${wrong} is for providers of the kind ${kind === 'jwt' ? 'saml' : 'jwt'}.`);
}

const readName = matching(/^[!-~]{1,1024}$/, '1 to 1024 visible ASCII characters.');

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
