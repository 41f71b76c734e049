import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Badge, Empty, Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { marksOf } from '../../account-marks.ts';
import { type Act, ActButton } from '../../act.ts';
import { wordOf } from '../../format.ts';
import { Moment, momentColumn, momentOf } from '../../moment.ts';
import {
  act,
  type Consent,
  type Holding,
  type Login,
  pathOf,
  read,
  type ShownMember,
} from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { whyNotPay } from '../../why-not-pay.ts';
import { Limits } from '../limits/limits-of.ts';
import { Activity } from './activity.ts';
import { Alerts } from './alerts.ts';
import { Devices } from './devices.ts';
import { Means } from './means.ts';

export function MemberScreen({ personId }: { personId: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<ShownMember>(pathOf`/members/${personId}`)),
    [personId],
  );
  const [result, setResult] = useState<string>();
  const title = state.kind === 'ready' ? `${state.value.firstName} ${state.value.lastName}` : 'Member';
  const done = (words: string) => {
    setResult(words);
    again();
  };
  // Of a person who has one role that reads members and one that erases.
  const acts = may('members:erase') && html`<${ActButton} act=${erasureOf(personId)} onDone=${done} />`;
  return html`<${Screen} title=${title} lead=${personId} acts=${acts}>
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the member" again=${again}>
      ${(member: ShownMember) => html`
        <${Person} member=${member} />
        <${Access} login=${member.login} hasAuthenticator=${member.authenticator !== null} onDone=${done} />
        <${Accounts} accounts=${member.accounts} />
        ${member.login && html`<${Limits} path=${pathOf`/users/${member.login.userId}/limits`} />`}
        <${Means} member=${member} />
        <${Sessions} sessions=${member.sessions} />
        ${member.login && html`<${Devices} devices=${member.devices} />`}
        <${Consents} consents=${member.consents} onDone=${done} />
        ${member.alerts && html`<${Alerts} alerts=${member.alerts} />`}
        <${Activity} member=${member} />`}
    <//>
  <//>`;
}

function erasureOf(personId: string): Act<string> {
  return {
    verb: 'Erase the person',
    effect:
      'The personal data is erased for good, here and in the audit. The service refuses while an account is open or the records must be kept.',
    run: async (reason) => {
      const { changed } = await act<Changed>(pathOf`/members/${personId}/erase`, { reason });
      return changed ? 'The personal data is erased.' : 'It was erased already: nothing changed.';
    },
  };
}

function Person({ member }: { member: ShownMember }) {
  return html`<section class="card" aria-label="Person"><div class="body split">
    <dl class="facts">
      <div><dt>E-mail</dt><dd>${member.email ?? 'none'}</dd></div>
      <div><dt>Phone</dt><dd>${member.phoneNumber ?? 'none'}</dd></div>
    </dl>
    <dl class="facts">${member.memberships.map(
      ({ memberNumber, memberType, role, others }) => html`
        <div><dt>Membership ${memberNumber}</dt>
        <dd>${wordOf(memberType)}, ${wordOf(role)}${others.map((one) => html`, with <a href=${addressOf('members', one.personId)}>${one.personId}</a>`)}</dd></div>`,
    )}</dl>
  </div></section>`;
}

interface Changed {
  readonly changed: boolean;
}

interface IssuedCode {
  readonly code: string;
  readonly expiresAt: string;
}

/** The acts that the state of the login allows, for operators who serve members. */
function actsOf({ userId, state }: Login, hasAuthenticator: boolean): Act<string>[] {
  const user = pathOf`/users/${userId}`;
  const serve = (name: string, verb: string, effect: string): Act<string> => ({
    verb,
    effect,
    run: async (reason) => {
      const { changed } = await act<Changed>(`${user}/${name}`, { reason });
      return changed ? 'It is done.' : 'It was so already: nothing changed.';
    },
  });
  const activation: Act<string> = {
    verb: 'New activation code',
    effect:
      'With the code the member chooses a username and a password. The code before ends. The new one is shown once.',
    run: async (reason) => {
      const { code, expiresAt } = await act<IssuedCode>(`${user}/activation-code`, { reason });
      return `The activation code is ${code}, valid until ${momentOf(expiresAt)}. It is not shown again.`;
    },
  };
  return [
    ...(state.startsWith('locked') || state === 'password ended'
      ? [serve('unlock', 'Unlock', 'The member may sign in again.')]
      : [serve('lock', 'Lock', 'The member can no longer sign in, and every session ends.')]),
    state === 'deactivated'
      ? serve('activate', 'Activate', 'The member may sign in again.')
      : serve('deactivate', 'Deactivate', 'The member can no longer sign in, and every session ends.'),
    activation,
    serve('end-sessions', 'End sessions', 'Every session ends. The member may sign in again.'),
    ...(hasAuthenticator
      ? [
          serve(
            'remove-second-factor',
            'Remove authenticator',
            'The authenticator app and the recovery codes end, and a password alone signs in again. Make sure of the person first. Passkeys stay.',
          ),
        ]
      : []),
  ];
}

/** "Can this person sign in, and why not?" */
function Access({
  login,
  hasAuthenticator,
  onDone,
}: {
  login: Login | null;
  hasAuthenticator: boolean;
  onDone: (words: string) => void;
}) {
  if (login === null)
    return html`<section class="card" aria-label="Sign-in"><${Empty}>The person has not registered.<//></section>`;
  return html`<section class="card" aria-labelledby="access">
    <header>
      <h2 id="access">Sign-in <${Badge} kind=${login.state === 'active' ? 'good' : 'bad'}>${wordOf(login.state)}<//></h2>
      ${may('members:serve') && html`<div class="actions">${actsOf(login, hasAuthenticator).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${onDone} />`)}</div>`}
    </header>
    <div class="body"><dl class="facts">
      <div><dt>Username</dt><dd>${login.username ?? 'none yet'}</dd></div>
      <div><dt>User id</dt><dd>${login.userId}</dd></div>
      <div><dt>E-mail</dt><dd>${login.email}${!login.emailVerified && ' (not verified)'}</dd></div>
      <div><dt>Registered</dt><dd><${Moment} at=${login.registeredAt} /></dd></div>
      <div><dt>Wrong passwords in a row</dt><dd>${login.failedLogins}</dd></div>
      ${login.lockedUntil && html`<div><dt>Locked until</dt><dd><${Moment} at=${login.lockedUntil} /></dd></div>`}
    </dl></div>
  </section>`;
}

const holdingColumns: readonly Column<Holding>[] = [
  {
    title: 'Account',
    text: ({ accountId }) => accountId,
    cell: ({ accountId }) => html`<a href=${addressOf('accounts', accountId)}>${accountId}</a>`,
  },
  { title: 'Type', text: ({ accountType }) => wordOf(accountType) },
  { title: 'Role', text: ({ role }) => wordOf(role) },
  {
    title: 'Balance',
    text: ({ balance }) => balance,
    cell: ({ balance: amount, currency }) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
    isNumeric: true,
  },
  {
    title: 'State',
    text: (row) =>
      marksOf(row)
        .map(({ words }) => words)
        .join(', ') || 'Open',
    cell: (row) => {
      const marks = marksOf(row);
      if (marks.length === 0) return 'Open';
      return html`<span class="marks">${marks.map(({ words, kind }) => html`<${Badge} key=${words} kind=${kind}>${words}<//>`)}</span>`;
    },
  },
  {
    title: 'May pay from it',
    text: (row) => whyNotPay(row) ?? 'Yes',
    cell: (row) => whyNotPay(row) ?? html`<${Badge} kind="good">Yes<//>`,
  },
];

function Accounts({ accounts }: { accounts: readonly Holding[] }) {
  return html`<section class="card" aria-labelledby="accounts">
    <header><h2 id="accounts">Accounts and rights of this person</h2></header>
    <${Table} caption="Accounts" columns=${holdingColumns} rows=${accounts} keyOf=${({ accountId }: Holding) => accountId} empty="No holder record names this person." />
  </section>`;
}

type Session = ShownMember['sessions'][number];

const sessionColumns: readonly Column<Session>[] = [
  { title: 'App or browser', text: ({ clientId, device }) => clientId ?? device ?? 'Browser' },
  { title: 'Address', text: ({ address }) => address ?? '' },
  momentColumn('Since', ({ startedAt }) => startedAt),
  momentColumn('Last used', ({ refreshedAt }) => refreshedAt),
  momentColumn('Until', ({ idleUntil }) => idleUntil),
];

/** The browsers and apps in which the member is signed in, as the member's own security page has them. */
function Sessions({ sessions }: { sessions: readonly Session[] }) {
  return html`<section class="card" aria-labelledby="sessions">
    <header><h2 id="sessions">Sessions</h2></header>
    <${Table} caption="Sessions" columns=${sessionColumns} rows=${sessions} empty="No session."
      keyOf=${({ clientId, startedAt, refreshedAt }: Session) => `${clientId} ${startedAt} ${refreshedAt}`} />
  </section>`;
}

const consentColumns = (onDone: (words: string) => void): readonly Column<Consent>[] => [
  { title: 'App', text: ({ clientName }) => clientName },
  {
    title: 'Reads',
    text: ({ allAccounts, accountIds }) =>
      allAccounts ? 'All accounts' : accountIds.join(', ') || 'No account',
  },
  { title: 'Scopes', text: ({ scopes }) => scopes.join(' '), isLong: true },
  momentColumn('Given', ({ grantedAt }) => grantedAt),
  momentColumn('Until', ({ expiresAt }) => expiresAt),
  ...(may('members:serve')
    ? [
        {
          title: 'Acts',
          text: () => '',
          isActs: true,
          cell: ({ consentId, clientName }: Consent) =>
            html`<div class="actions"><${ActButton} onDone=${onDone} act=${{
              verb: 'End the consent',
              effect: `${clientName} reads nothing of this member any more.`,
              run: async (reason: string) => {
                await act(pathOf`/consents/${consentId}/end`, { reason });
                return 'The consent has ended.';
              },
            }} /></div>`,
        },
      ]
    : []),
];

/** The apps and aggregators that the member lets in. */
function Consents({ consents, onDone }: { consents: readonly Consent[]; onDone: (words: string) => void }) {
  return html`<section class="card" aria-labelledby="consents">
    <header><h2 id="consents">Consents</h2></header>
    <${Table} caption="Consents" columns=${consentColumns(onDone)} rows=${consents} keyOf=${({ consentId }: Consent) => consentId} empty="The member lets no app in." />
  </section>`;
}
