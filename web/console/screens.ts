import type { Place } from '../common/router.ts';
import { html } from '../design/html.ts';
import { type LazyScreen, lazyScreen } from './lazy.ts';

/** The screens by the first word of their address. Each is a module that loads when it is first asked for. */
const screens: ReadonlyMap<string, LazyScreen> = new Map([
  [
    'today',
    lazyScreen(
      () => import('./screens/today.ts'),
      ({ TodayScreen }) => html`<${TodayScreen} />`,
    ),
  ],
  [
    'review',
    lazyScreen(
      () => import('./screens/review/review.ts'),
      ({ ReviewScreen }, { query }) => html`<${ReviewScreen} query=${query} />`,
    ),
  ],
  [
    'transfers',
    lazyScreen(
      () => import('./screens/transfers.ts'),
      ({ TransfersScreen }, { query }) => html`<${TransfersScreen} query=${query} />`,
    ),
  ],
  [
    'members',
    lazyScreen(
      () => import('./screens/members.ts'),
      ({ MembersScreen }, { query }) =>
        html`<${MembersScreen} key=${query.get('text')} text=${query.get('text') ?? ''} />`,
    ),
  ],
  [
    'breaks',
    lazyScreen(
      () => import('./screens/breaks/breaks.ts'),
      ({ BreaksScreen }, { query }) => html`<${BreaksScreen} query=${query} />`,
    ),
  ],
  [
    'reconcile',
    lazyScreen(
      () => import('./screens/reconcile/runs.ts'),
      ({ ReconcileScreen }, { query }) => html`<${ReconcileScreen} query=${query} />`,
    ),
  ],
  [
    'limits',
    lazyScreen(
      () => import('./screens/limits/limits.ts'),
      ({ LimitsScreen }, { query }) => html`<${LimitsScreen} query=${query} />`,
    ),
  ],
  [
    'clients',
    lazyScreen(
      () => import('./screens/clients/clients.ts'),
      ({ ClientsScreen }) => html`<${ClientsScreen} />`,
    ),
  ],
  [
    'ledger',
    lazyScreen(
      () => import('./screens/ledger/ledger.ts'),
      ({ LedgerScreen }, { query }) => html`<${LedgerScreen} key=${query.toString()} query=${query} />`,
    ),
  ],
  [
    'search',
    lazyScreen(
      () => import('./screens/search.ts'),
      ({ SearchScreen }, { query }) =>
        html`<${SearchScreen} key=${query.get('text')} text=${query.get('text') ?? ''} />`,
    ),
  ],
  [
    'webhooks',
    lazyScreen(
      () => import('./screens/webhooks.ts'),
      ({ WebhooksScreen }) => html`<${WebhooksScreen} />`,
    ),
  ],
  [
    'audit',
    lazyScreen(
      () => import('./screens/audit.ts'),
      ({ AuditScreen }, { query }) => html`<${AuditScreen} query=${query} />`,
    ),
  ],
  [
    'operators',
    lazyScreen(
      () => import('./screens/operators.ts'),
      ({ OperatorsScreen }) => html`<${OperatorsScreen} />`,
    ),
  ],
  [
    'institution',
    lazyScreen(
      () => import('./screens/institution/institution.ts'),
      ({ InstitutionScreen }) => html`<${InstitutionScreen} />`,
    ),
  ],
]);

/** The screens of one thing, whose address has its id behind the first word. */
const ofOne: ReadonlyMap<string, LazyScreen> = new Map([
  [
    'transfers',
    lazyScreen(
      () => import('./screens/transfer/transfer.ts'),
      ({ TransferScreen }, { id }) => html`<${TransferScreen} key=${id} id=${id} />`,
    ),
  ],
  [
    'members',
    lazyScreen(
      () => import('./screens/member/member.ts'),
      ({ MemberScreen }, { id }) => html`<${MemberScreen} key=${id} personId=${id} />`,
    ),
  ],
  [
    'accounts',
    lazyScreen(
      () => import('./screens/account.ts'),
      ({ AccountScreen }, { id }) => html`<${AccountScreen} key=${id} accountId=${id} />`,
    ),
  ],
  [
    'classes',
    lazyScreen(
      () => import('./screens/ledger/class.ts'),
      ({ ClassScreen }, { id, query }) =>
        html`<${ClassScreen} key=${`${id} ${query}`} name=${id} query=${query} />`,
    ),
  ],
  [
    'entries',
    lazyScreen(
      () => import('./screens/posting.ts'),
      ({ PostingScreen }, { id, query }) =>
        html`<${PostingScreen} key=${`${id} ${query.get('entry')}`} accountId=${id} entry=${query.get('entry') ?? ''} />`,
    ),
  ],
  [
    'breaks',
    lazyScreen(
      () => import('./screens/breaks/break.ts'),
      ({ BreakScreen }, { id }) => html`<${BreakScreen} key=${id} breakId=${id} />`,
    ),
  ],
  [
    'reconcile',
    lazyScreen(
      () => import('./screens/reconcile/run.ts'),
      ({ RunScreen }, { id, query }) => html`<${RunScreen} key=${id} runId=${id} query=${query} />`,
    ),
  ],
  [
    'webhooks',
    lazyScreen(
      () => import('./screens/webhook.ts'),
      ({ WebhookScreen }, { id }) => html`<${WebhookScreen} key=${id} endpointId=${id} />`,
    ),
  ],
]);

/** Undefined for an address that leads nowhere. */
export function screenAt({ screen, id }: Pick<Place, 'screen' | 'id'>): LazyScreen | undefined {
  return (id === undefined ? undefined : ofOne.get(screen)) ?? screens.get(screen);
}
