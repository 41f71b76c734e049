import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  findOperatorProvider,
  type GroupRoles,
  type OperatorProvider,
  type OperatorRole,
  operatorRoles,
  redirectUriOf,
  removeOperatorProvider,
  setOperatorProvider,
} from '../../../operators/index.ts';
import { matching, readReason } from '../../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayOne } from '../../output.ts';

interface SetOptions extends InstitutionOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecretFile?: string;
  readonly privateKeyJwt?: true;
  readonly scope: string;
  readonly groupClaim: string;
  readonly group: GroupRoles;
  readonly inside?: true;
  readonly reason: string;
}

const example = `
Example:
  sharedraft institution operators-provider set --institution lakeside --issuer https://login.bank.example \\
    --client-id sharedraft --client-secret-file secret.txt --group "bank-staff=viewer teller" --group bank-approvers=approver \\
    --reason "single sign-on"
docs/operators.md has the whole of it.`;

const reasonOption = ['--reason <text>', 'why, for the audit', readReason] as const;

/** `sharedraft institution operators-provider`. */
export function operatorsProvider(): Command {
  const group = new Command('operators-provider').description(
    'The OpenID provider at which operators sign in',
  );
  for (const command of [set(), show(), off()]) group.addCommand(command);
  return group;
}

function set(): Command {
  return onInstitution(
    new Command('set')
      .description('let operators sign in at a provider, with the roles of their groups there')
      .requiredOption(
        '--issuer <url>',
        'its issuer, exactly as its metadata have it',
        matching(/^[!-~]{1,2048}$/, 'Must be an https address.'),
      )
      .requiredOption(
        '--client-id <id>',
        'the client id that it gave',
        matching(/^[!-~]{1,255}$/, '1 to 255 visible ASCII characters.'),
      )
      .option(
        '--client-secret-file <file>',
        'a file with the client secret in its first line; left out, the secret of before stays',
      )
      .option(
        '--private-key-jwt',
        "authenticate by the service's signing keys, which are published at /auth/v2/jwks",
      )
      .option(
        '--scope <scope>',
        'scopes, separated by spaces',
        matching(/^(?=.{1,1024}$)(?:[!-~]+ )*openid(?: [!-~]+)*$/, 'Must contain openid.'),
        'openid profile email',
      )
      .option(
        '--group-claim <name>',
        'the claim of the ID token that names the groups',
        matching(/^[!-~]{1,255}$/, '1 to 255 visible ASCII characters.'),
        'groups',
      )
      .addOption(
        new Option(
          '--group <group=roles>',
          `a group with its roles, separated by spaces (${operatorRoles.join(', ')}); once for each group`,
        )
          .argParser(readGroup)
          .makeOptionMandatory(),
      )
      .option('--inside', 'its addresses may be inside your network')
      .requiredOption(...reasonOption)
      .addHelpText('after', example),
    change,
  );
}

function show(): Command {
  return onInstitution(
    new Command('show').description('show the provider of the operators').addOption(jsonOption()),
    async (
      { context, institutionId, institution }: InstitutionRun,
      options: InstitutionOptions & OutputOptions,
    ) => {
      const provider = await findOperatorProvider(context, institutionId);
      if (provider === undefined) return say(options.json ? 'null' : 'Operators sign in at no provider.');
      sayOne(shown(provider, redirectUriOf(context, institution.code)), options);
    },
  );
}

function off(): Command {
  return onInstitution(
    new Command('off')
      .description('forget the provider; the sessions of its operators end')
      .requiredOption(...reasonOption)
      .addOption(yesOption()),
    async (
      { context, institutionId, origin }: InstitutionRun,
      { reason, ...options }: InstitutionOptions & ConfirmOptions & { readonly reason: string },
    ) => {
      await confirm('Operators of the provider sign in no more, and their sessions end.', options);
      await removeOperatorProvider(context, institutionId, { ...origin, statedReason: reason });
      say('Removed.');
    },
  );
}

async function change(
  { context, institution, institutionId, origin }: InstitutionRun,
  options: SetOptions,
): Promise<void> {
  const { issuer, clientId, scope, groupClaim, group: groupRoles, reason: statedReason } = options;
  const secret = await secretOf(options);
  const before = await findOperatorProvider(context, institutionId);
  if (secret === undefined && before === undefined)
    throw new CommandError('Name --client-secret-file or --private-key-jwt.');
  const provider = { issuer, clientId, scope, groupClaim, mayBeInside: options.inside === true };
  const settings = { provider, secret, groupRoles, origin: { ...origin, statedReason } };
  await setOperatorProvider(context, institutionId, settings);
  say(`Operators sign in at ${issuer}. Register this address there, exactly:`);
  say(`  redirect URI  ${redirectUriOf(context, institution.code)}`);
  if (secret === null) say(`  keys          ${context.auth.issuer}/auth/v2/jwks`);
}

/** Undefined keeps the secret of before; null is private_key_jwt. */
async function secretOf({ clientSecretFile, privateKeyJwt }: SetOptions): Promise<string | null | undefined> {
  if (privateKeyJwt === true) {
    if (clientSecretFile !== undefined)
      throw new CommandError('Name either --client-secret-file or --private-key-jwt.');
    return null;
  }
  if (clientSecretFile === undefined) return undefined;
  const [secret = ''] = (await readFile(clientSecretFile, 'utf8')).split(/\r?\n/);
  if (!/^.{8,2048}$/.test(secret))
    throw new CommandError('The first line of the file must have 8 to 2048 characters.');
  return secret;
}

function readGroup(text: string, before: GroupRoles = {}): GroupRoles {
  const equals = text.lastIndexOf('=');
  const name = text.slice(0, equals);
  const roles = new Set(text.slice(equals + 1).split(/[\s,]+/));
  const known = operatorRoles.filter((role) => roles.has(role)) as OperatorRole[];
  if (equals < 1 || name.length > 255 || known.length !== roles.size)
    throw new InvalidArgumentError(
      `Must be like bank-staff=viewer teller. Roles are ${operatorRoles.join(', ')}.`,
    );
  return { ...before, [name]: known };
}

function shown(provider: OperatorProvider, redirectUri: string) {
  const { issuer, clientId, hasSecret, scope, groupClaim, mayBeInside, groupRoles } = provider;
  return {
    document: { ...provider, redirectUri },
    facts: [
      ['issuer', issuer],
      ['client id', clientId],
      ['authenticates by', hasSecret ? 'client secret' : 'private_key_jwt'],
      ['scope', scope],
      ['claim of groups', groupClaim],
      ['inside your network', mayBeInside],
      ['redirect URI', redirectUri],
    ] as const,
    parts: [
      {
        title: 'groups',
        headings: ['group', 'roles'],
        rows: Object.entries(groupRoles).map(([name, roles]) => [name, roles] as const),
        none: 'none',
      },
    ],
  };
}
