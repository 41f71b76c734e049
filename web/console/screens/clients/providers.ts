import type { Column } from '../../../common/table.ts';
import { Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { ChangeButton } from '../../form/change-button.ts';
import { type Changeable, type Values, yesOrNo } from '../../form/changeable.ts';
import { wordOf } from '../../format.ts';
import { act, type IdentityProvider, pathOf } from '../../operations.ts';
import { may } from '../../session.ts';

/* The identity providers of an institution. Each may assert every member, so the service asks for a recent sign-in. */

type Done = (words: string) => void;

const keys = {
  name: 'keys',
  label: 'Public keys',
  kind: 'text',
  maxLength: 32_768,
  longWords: 'those of the field',
  hint: 'A JWK Set; certificates in PEM for SAML.',
} as const;
const naming: readonly Changeable[] = [
  {
    name: 'userIdType',
    label: 'Names the member by',
    kind: 'choice',
    choices: [
      { value: 'USER_ID', words: 'user id' },
      { value: 'LOGIN_ID', words: 'username' },
      { value: 'CUSTOMER_ID', words: 'customer id' },
      { value: 'MEMBER_NUMBER', words: 'member number' },
      { value: 'EMAIL', words: 'e-mail address' },
    ],
  },
  {
    name: 'scopes',
    label: 'Most scopes of its members',
    kind: 'text',
    maxLength: 512,
    hint: 'Like account:read transfer:read, with a space between.',
  },
];
const resourceTokens = { name: 'resourceTokens', label: 'Its own access tokens are accepted', ...yesOrNo };

/** Kind, issuer and audience never change. */
const newFields: readonly Changeable[] = [
  {
    name: 'providerId',
    label: 'Id',
    kind: 'text',
    maxLength: 64,
    hint: 'A name for it, like online-banking.',
  },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    choices: [
      { value: 'jwt', words: 'signed JSON (JWT)' },
      { value: 'saml', words: 'SAML' },
    ],
  },
  {
    name: 'issuer',
    label: 'Issuer',
    kind: 'text',
    maxLength: 1_024,
    hint: 'Its iss, or its SAML entity ID.',
  },
  { name: 'audience', label: 'Audience', kind: 'text', maxLength: 1_024, ifNone: 'this service' },
  keys,
  {
    name: 'subjectFrom',
    label: 'Claim, or format of the NameID',
    kind: 'text',
    maxLength: 255,
    ifNone: 'sub, or the persistent NameID',
  },
  ...naming,
  resourceTokens,
];
const oneFields: readonly Changeable[] = [
  { ...keys, ifNone: 'as they are' },
  { name: 'subjectFrom', label: 'Claim, or format of the NameID', kind: 'text', maxLength: 255 },
  ...naming,
];

/** The values of a form as the operation takes them; one that is left out has its default there. */
function settingsOf({ scopes, ...others }: Values): Values {
  const given = Object.entries(others).filter(([, value]) => value !== null);
  const listed = scopes === undefined ? {} : { scopes: String(scopes).split(/\s+/) };
  return { ...Object.fromEntries(given), ...listed };
}

const defaults = { kind: 'jwt', userIdType: 'USER_ID', resourceTokens: false } as const;

export function RegisterProvider({ onDone }: { onDone: Done }) {
  if (!may('providers:manage')) return null;
  return html`<${ChangeButton} verb="Register" subject="an identity provider" fields=${newFields} values=${defaults}
    effect="It may sign in each member of the institution, within its scopes. Be sure of its keys."
    send=${(given: Values, reason: string) => act('/providers', { ...defaults, ...settingsOf(given), reason })}
    onDone=${() => onDone('The identity provider is registered.')} />`;
}

export function providerColumns(onDone: Done): readonly Column<IdentityProvider>[] {
  return [
    { title: 'Provider', text: ({ providerId }) => providerId },
    { title: 'Kind', text: ({ kind }) => kind.toUpperCase() },
    {
      title: 'State',
      text: ({ active }) => (active ? 'Active' : 'Switched off'),
      cell: ({ active }) =>
        html`<${Badge} kind=${active ? 'good' : 'bad'}>${active ? 'Active' : 'Switched off'}<//>`,
    },
    ...(may('institution:change') ? [actsColumn(onDone)] : []),
    { title: 'Issuer', text: ({ issuer }) => issuer },
    { title: 'Audience', text: ({ audience }) => audience },
    {
      title: 'Names members by',
      text: ({ userIdType, subjectFrom }) => `${wordOf(userIdType)} in ${subjectFrom}`,
    },
    { title: 'Scopes', text: ({ scopes }) => scopes.join(' '), isLong: true },
    {
      title: 'Access tokens',
      text: ({ resourceTokens: has, tokenType }) => (has ? tokenType : 'not accepted'),
    },
    { title: 'Keys', text: (row) => row.keys.map(({ kid }) => kid ?? 'without id').join(' ') },
  ];
}

function actsColumn(onDone: Done): Column<IdentityProvider> {
  return {
    title: 'Acts',
    text: () => '',
    isActs: true,
    cell: (provider) => html`<div class="actions">
      <${ActButton} act=${switchOf(provider)} onDone=${onDone} />
      ${
        may('providers:manage') &&
        html`<${ChangeButton} subject=${provider.providerId} effect="Members whom it signed in are signed out within a second."
          fields=${provider.kind === 'jwt' ? [...oneFields, resourceTokens] : oneFields}
          values=${{ ...provider, keys: null, scopes: provider.scopes.join(' ') }}
          send=${(given: Values, reason: string) => act(pathOf`/providers/${provider.providerId}/settings`, { ...settingsOf(given), reason })}
          onDone=${() => onDone(`${provider.providerId} is changed.`)} />
        <${ActButton} act=${removalOf(provider)} onDone=${onDone} />`
      }
    </div>`,
  };
}

function switchOf({ providerId, active }: IdentityProvider): Act<string> {
  return {
    verb: active ? 'Switch off' : 'Switch on',
    effect: active
      ? 'Its assertions are refused, and identities that it asserted end.'
      : 'Its assertions of members are accepted again.',
    run: async (reason) => {
      await act(pathOf`/providers/${providerId}`, { active: !active, reason }, 'PATCH');
      return `${providerId} is switched ${active ? 'off' : 'on'}.`;
    },
  };
}

function removalOf({ providerId }: IdentityProvider): Act<string> {
  return {
    verb: 'Remove',
    effect: `${providerId} and its keys are gone, and members whom it signed in are signed out within a second.`,
    run: async (reason) => {
      await act(pathOf`/providers/${providerId}/remove`, { reason });
      return `${providerId} is removed.`;
    },
  };
}
