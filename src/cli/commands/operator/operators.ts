import { Command, InvalidArgumentError } from 'commander';
import {
  changeOperator,
  type Invitation,
  inviteAgain,
  inviteOperator,
  listOperators,
  type OperatorRole,
  operatorRoles,
} from '../../../operators/index.ts';
import { listOf, matching, readNameForPeople, readReason } from '../../arguments.ts';
import { type InstitutionOptions, type InstitutionRun, onInstitution, say } from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';

interface InviteOptions extends InstitutionOptions {
  readonly name: string;
  readonly email: string;
  readonly roles: OperatorRole[];
  readonly reason: string;
}

interface ReasonOptions extends InstitutionOptions, ConfirmOptions {
  readonly reason: string;
}

const statuses = { resume: 'ACTIVE', suspend: 'SUSPENDED', end: 'ENDED' } as const;

export function operatorCommands(): Command[] {
  return [
    onInstitution(
      new Command('invite')
        .description('invite an operator; the first administrator of an institution begins so')
        .requiredOption(
          '--name <name>',
          'the name in the audit, unique in the institution',
          readNameForPeople,
        )
        .requiredOption(
          '--email <address>',
          'the e-mail address that the institution has of the person',
          matching(/^(?=.{3,254}$)[^\s\p{C}@]+@[^\s\p{C}@]+$/u, 'Must be an e-mail address.'),
        )
        .requiredOption(...rolesOption)
        .requiredOption(...reasonOption),
      invite,
    ),
    onInstitution(
      withOperator(
        'invite-again',
        'a new code for an operator, for lost passkeys too: all passkeys and sessions of the operator end',
      ).addOption(yesOption()),
      async (
        { context, institution, institutionId, origin },
        { reason, ...options }: ReasonOptions,
        operatorId: string,
      ) => {
        await confirm('Every passkey and every session of the operator ends.', options);
        const again = { operatorId, statedReason: reason, origin };
        sayInvitation(
          await inviteAgain(context, institutionId, again),
          institution.code,
          context.auth.issuer,
        );
      },
    ),
    onInstitution(new Command('list').description('list the operators').addOption(jsonOption()), list),
    onInstitution(
      withOperator('roles', 'give an operator other roles, from the next request on').requiredOption(
        ...rolesOption,
      ),
      async (
        run,
        { roles, reason }: ReasonOptions & { readonly roles: OperatorRole[] },
        operatorId: string,
      ) => {
        await change(run, { operatorId, roles, reason });
      },
    ),
    ...(['suspend', 'resume', 'end'] as const).map((verb) =>
      onInstitution(
        withOperator(verb, descriptions[verb]).addOption(yesOption()),
        async (run, { reason, ...options }: ReasonOptions, operatorId: string) => {
          if (verb !== 'resume') await confirm('Every session of the operator ends.', options);
          await change(run, { operatorId, status: statuses[verb], reason });
        },
      ),
    ),
  ];
}

const descriptions = {
  suspend: 'suspend an operator; every session ends',
  resume: 'let a suspended operator sign in again',
  end: 'end an operator for good; every session and passkey ends',
} as const;

const rolesOption = [
  '--roles <roles>',
  `separated by spaces: ${operatorRoles.join(', ')}`,
  listOf(readRole),
] as const;

const reasonOption = ['--reason <text>', 'why, for the audit', readReason] as const;

function readRole(text: string): OperatorRole {
  const role = operatorRoles.find((one) => one === text);
  if (role === undefined) throw new InvalidArgumentError(`Roles are ${operatorRoles.join(', ')}.`);
  return role;
}

function withOperator(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<operator-id>', 'which one: `sharedraft operator list` shows the ids')
    .requiredOption(...reasonOption);
}

async function invite(
  { context, institution, institutionId, origin }: InstitutionRun,
  { name, email, roles, reason }: InviteOptions,
): Promise<void> {
  const wanted = { name, email, roles: [...new Set(roles)], statedReason: reason, origin };
  sayInvitation(await inviteOperator(context, institutionId, wanted), institution.code, context.auth.issuer);
}

function sayInvitation(
  { operator, code, expiresAt }: Invitation,
  institution: string,
  publicUrl: string,
): void {
  say(
    `Invited ${operator.name} as ${operator.roles.join(', ')}. Shown once, until ${expiresAt.toISOString()}:`,
  );
  say(`  page  ${publicUrl}/operations/invitation?institution=${encodeURIComponent(institution)}`);
  say(`  code  ${code}`);
}

async function change(
  { context, institutionId, origin }: InstitutionRun,
  {
    operatorId,
    reason,
    ...wanted
  }: {
    readonly operatorId: string;
    readonly reason: string;
    readonly roles?: readonly OperatorRole[];
    readonly status?: (typeof statuses)[keyof typeof statuses];
  },
): Promise<void> {
  const act = { ...wanted, operatorId, statedReason: reason, origin };
  const { name, roles, status } = await changeOperator(context, institutionId, act);
  say(`${name} is ${status.toLowerCase()}, with the roles ${roles.join(', ')}.`);
}

async function list(
  { context, institution, institutionId }: InstitutionRun,
  options: InstitutionOptions & OutputOptions,
): Promise<void> {
  const operators = await listOperators(context, institutionId);
  await sayList(
    operators,
    {
      columns: {
        id: ({ operatorId }) => operatorId,
        name: ({ name }) => name,
        status: ({ status }) => status.toLowerCase(),
        roles: ({ roles }) => roles,
        'e-mail': ({ email }) => email,
        'signs in by': ({ source }) => waysIn[source],
      },
      document: (operator) => ({ ...operator }),
      none: `${institution.name} has no operators yet. Invite the first: sharedraft operator invite --help`,
    },
    options,
  );
}

const waysIn = { INVITATION: 'passkey', PROVIDER: 'OpenID provider', DEMO: 'button of the demo' } as const;
