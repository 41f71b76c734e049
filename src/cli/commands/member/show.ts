import { Command } from 'commander';
import { type ShownMember, showMember } from '../../../operators/index.ts';
import { CommandError, type InstitutionOptions, onInstitution } from '../../command.ts';
import { jsonOption, type OutputOptions, sayOne } from '../../output.ts';
import { sayPersons } from './find.ts';

export function show(): Command {
  return onInstitution(
    new Command('show')
      .description(
        'show a person: memberships, accounts, login, locks, sessions, consents; the audit records the read',
      )
      .argument('<member>', 'a member number, e-mail address, username or id')
      .addOption(jsonOption()),
    async ({ context, institutionId, origin }, options: InstitutionOptions & OutputOptions, text: string) => {
      const now = context.businessTime(institutionId, context.clock());
      const shown = await showMember(context, institutionId, { text, now, origin });
      if (shown.kind === 'found') return sayMember(shown.member, options);
      if (shown.kind === 'several') {
        await sayPersons(shown.persons, options);
        throw new CommandError('Several persons match. Show one of them by its person id.');
      }
      throw new CommandError('No person matches. `sharedraft member find` also searches by name.');
    },
  );
}

function sayMember(member: ShownMember, options: OutputOptions): void {
  const { login, memberships, accounts, sessions, consents } = member;
  sayOne(
    {
      document: { ...member },
      facts: [
        ['person', member.personId],
        ['name', `${member.firstName} ${member.lastName}`.trim()],
        ['e-mail of the core', member.email],
        ['phone of the core', member.phoneNumber],
        ['birth date', member.birthDate],
        ['source', member.selfDeclared ? 'typed by the member at registration' : null],
        ['login', login === null ? 'not registered' : login.state],
        ['locked until', login?.lockedUntil],
        ['wrong passwords', login && login.failedLogins > 0 ? login.failedLogins : null],
        ['user', login?.userId],
        ['username', login?.username],
        ['e-mail', login && `${login.email}${login.emailVerified ? '' : ' (not verified)'}`],
        ['registered', login?.registeredAt],
        ['activation code until', login?.activationCodeUntil],
        ['authenticator app since', login?.secondFactorSince],
      ],
      parts: [
        {
          title: 'Memberships',
          headings: ['member number', 'customer', 'type', 'role', 'others'],
          rows: memberships.map((one) => [
            ...[one.memberNumber, one.customerId, one.memberType, one.role],
            one.others.map(({ personId, role }) => `${personId} ${role}`).join(', '),
          ]),
          none: 'none',
        },
        {
          title: 'Accounts',
          headings: ['account', 'type', 'member number', 'role', 'may pay', 'balance', 'state'],
          rows: accounts.map((one) => [
            ...[one.accountId, one.accountType, one.memberNumber, one.role, one.mayPay],
            `${one.balance} ${one.currency}`,
            stateOf(one),
          ]),
          none: 'none that the person holds',
        },
        {
          title: 'Sessions that can be renewed',
          headings: ['client', 'started', 'last renewed', 'ends if idle', 'scopes'],
          rows: sessions.map((one) => [
            one.clientId ?? 'sign-in page',
            one.startedAt,
            one.refreshedAt,
            one.idleUntil,
            one.scopes,
          ]),
          none: 'none',
        },
        {
          title: 'Consents in force',
          headings: ['consent', 'client', 'name', 'granted', 'ends', 'scopes', 'accounts'],
          rows: consents.map((one) => [
            ...[one.consentId, one.clientId, one.clientName, one.grantedAt, one.expiresAt],
            one.scopes,
            one.allAccounts ? 'all' : one.accountIds,
          ]),
          none: 'none',
        },
      ],
    },
    options,
  );
}

function stateOf({ closed, coreRestriction, operatorRestriction }: ShownMember['accounts'][number]): string {
  if (closed) return 'closed';
  const restrictions = [
    coreRestriction && `${coreRestriction} by the core`,
    operatorRestriction && `${operatorRestriction} by an operator`,
  ];
  return restrictions.filter(Boolean).join(', ') || 'open';
}
