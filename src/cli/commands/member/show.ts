import { Command } from 'commander';
import { type ShownMember, showMember } from '../../../operators/index.ts';
import { deviceName } from '../../../shared/text/device-name.ts';
import { CommandError, type InstitutionOptions, onInstitution } from '../../command.ts';
import { jsonOption, type OutputOptions, type Part, sayOne } from '../../output.ts';
import { sayPersons } from './find.ts';

const newest = 10;

export function show(): Command {
  return onInstitution(
    new Command('show')
      .description(
        'show a person: memberships, accounts, login, sessions, consents, means of sign-in, alerts, last events; the audit records the read',
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
        ['authenticator app', authenticatorOf(member)],
        ['recovery codes left', member.authenticator?.recoveryCodes],
        ['alerts', alertsOf(member)],
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
          headings: ['client', 'started', 'last renewed', 'ends if idle', 'device', 'address', 'scopes'],
          rows: sessions.map((one) => [
            ...[one.clientId ?? 'sign-in page', one.startedAt, one.refreshedAt, one.idleUntil],
            ...[deviceName(one.userAgent), one.address, one.scopes],
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
        ...partsOfLogin(member),
      ],
    },
    options,
  );
}

/** Of a registered person. `--json` has all of them; a table has the newest ten alerts and events. */
function partsOfLogin({ login, passkeys, devices, alerts, activity }: ShownMember): readonly Part[] {
  if (login === null) return [];
  return [
    {
      title: 'Passkeys',
      headings: ['name', 'added', 'last used', 'synced'],
      rows: passkeys.map((one) => [one.name, one.createdAt, one.lastUsedAt, one.isSynced]),
      none: 'none',
    },
    {
      title: 'Known devices',
      headings: ['kind', 'device', 'app', 'first seen', 'last seen'],
      rows: devices.map((one) => [one.kind, one.name, one.clientName, one.firstSeenAt, one.lastSeenAt]),
      none: 'none',
    },
    {
      title: 'Alerts about accounts',
      headings: ['alert', 'account', 'threshold', 'channels'],
      rows: (alerts?.rules ?? []).map((one) => [
        ...[one.alertType, one.accountId],
        one.threshold && `${one.threshold} ${one.currency}`,
        one.channels,
      ]),
      none: 'none',
    },
    {
      title: 'Last alerts',
      headings: ['sent', 'alert', 'account', 'channels'],
      rows: (alerts?.last ?? [])
        .slice(0, newest)
        .map((one) => [one.releasedAt, one.alertType, one.accountId, one.channels]),
      none: 'none',
    },
    {
      title: 'Last events',
      headings: ['at', 'event', 'outcome', 'by', 'address'],
      rows: activity
        .slice(0, newest)
        .map((one) => [
          one.at,
          one.action,
          [one.outcome, one.reason, one.times > 1 && `${one.times} times`].filter(Boolean).join(' '),
          one.isByOperator ? 'an operator' : one.clientName,
          one.address,
        ]),
      none: 'none',
    },
  ];
}

function authenticatorOf({ authenticator }: ShownMember): string | null {
  if (authenticator === null) return null;
  const { name, createdAt, lastUsedAt } = authenticator;
  const used = lastUsedAt === null ? 'never used' : `last used ${lastUsedAt.toISOString()}`;
  return `${name}, since ${createdAt.toISOString()}, ${used}`;
}

/** The channels of security alerts, with the quiet hours. */
function alertsOf({ login, alerts }: ShownMember): string | null {
  if (login === null) return null;
  const { settings } = alerts ?? {};
  if (!settings) return 'nothing chosen: security alerts by e-mail and to the inbox';
  const { securityChannels, quietFrom, quietTo, timeZone } = settings;
  const quiet = quietFrom === null ? '' : `, quiet from ${quietFrom} to ${quietTo} ${timeZone}`;
  return `security alerts by ${securityChannels.join(' ') || 'no channel'}${quiet}`;
}

function stateOf(account: ShownMember['accounts'][number]): string {
  const { closed, delinquent, coreRestriction, operatorRestriction } = account;
  if (closed) return 'closed';
  const marks = [
    delinquent && 'delinquent',
    coreRestriction && `${coreRestriction} by the core`,
    operatorRestriction && `${operatorRestriction} by an operator`,
  ];
  return marks.filter(Boolean).join(', ') || 'open';
}
