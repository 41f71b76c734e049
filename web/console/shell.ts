import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Stateful as AnyStateful, type Loaded } from '../common/load.ts';
import { addressOf, go } from '../common/router.ts';
import { Button, Notice } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { ending } from './ending.ts';
import { momentOf } from './moment.ts';
import { sentenceOf } from './operations.ts';
import { screenAt } from './screens.ts';
import { may, session, signOut, toSignIn } from './session.ts';

/** The screens of the sidebar, each with the right that it needs. */
const links = [
  { screen: 'today', label: 'Today', right: 'institution:read' },
  { screen: 'review', label: 'Review', right: 'members:read' },
  { screen: 'transfers', label: 'Transfers', right: 'members:read' },
  { screen: 'members', label: 'Members', right: 'members:read' },
  { screen: 'ledger', label: 'Ledger', right: 'institution:read' },
  { screen: 'limits', label: 'Limits', right: 'institution:read' },
  { screen: 'breaks', label: 'Breaks', right: 'institution:read' },
  { screen: 'reconcile', label: 'Reconcile', right: 'institution:read' },
  { screen: 'webhooks', label: 'Webhooks', right: 'institution:read' },
  { screen: 'clients', label: 'Clients', right: 'institution:read' },
  { screen: 'audit', label: 'Audit', right: 'audit:read' },
  { screen: 'operators', label: 'Operators', right: 'institution:read' },
  { screen: 'institution', label: 'Institution', right: 'institution:read' },
] as const;

/** The first screen that the roles of the operator allow. */
export function firstScreen(): string {
  return links.find(({ right }) => may(right))?.screen ?? 'institution';
}

/** The search shows each role its own; accounts, and the story of a break, are about members too. */
export function rightOf(screen: string, id?: string): string {
  if (screen === 'search') return 'institution:read';
  if (screen === 'breaks' && id !== undefined) return 'members:read';
  return links.find((link) => link.screen === screen)?.right ?? 'members:read';
}

export function Shell({ screen, children }: { screen: string; children?: Children }) {
  const { name, institution } = session.value ?? {};
  return html`<div class="shell">
    ${institution?.styleUrl && html`<link rel="stylesheet" href=${institution.styleUrl} />`}
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <p class="brand">${institution?.logoUrl ? html`<img src=${institution.logoUrl} alt=${institution.name} />` : institution?.name}</p>
      <${Search} />
      <p class="who">${name}</p>
      <${Button} kind="text" onPress=${() => void signOut()}>Sign out<//>
    </header>
    <${Links} screen=${screen} />
    <main id="main" tabindex="-1">${children}</main>
    <${EndingNotice} />
  </div>`;
}

/** On a phone the links are one line, wider than the window: the one of the screen moves into it, at once and without motion. */
function Links({ screen }: { screen: string }) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [screen]);
  return html`<nav class="links" aria-label="Main"><ul ref=${list}>${links
    .filter(({ right }) => may(right))
    .map(
      (link) =>
        html`<li key=${link.screen}><a href=${addressOf(link.screen)} aria-current=${link.screen === screen ? 'page' : undefined}
          onPointerEnter=${prepare(link.screen)} onFocus=${prepare(link.screen)}>${link.label}</a></li>`,
    )}</ul></nav>`;
}

/** It is there from the beginning, so that screen readers announce a text that appears in it. */
function EndingNotice() {
  const { at, canStay } = ending.value ?? {};
  const time = at && momentOf(at.toISOString());
  return html`<div class="ending" role="alert">${
    at &&
    html`<p>${canStay ? `Nobody has used this page for a while: you are signed out at ${time}. Press any key to stay.` : `Your session ends at ${time}, twelve hours after the sign-in.`}</p>
    ${!canStay && html`<${Button} kind="quiet" onPress=${toSignIn}>Sign in again<//>`}`
  }</div>`;
}

/** A pointer on a link, or the focus, is most often followed by a press. */
function prepare(screen: string): () => void {
  return () => screenAt({ screen, id: undefined })?.prepare();
}

/** The address holds the screen, so the link moves the focus itself. */
function skip(event: Event): void {
  event.preventDefault();
  focusMain();
}

function focusMain(): void {
  document.getElementById('main')?.focus();
}

const searchId = 'find';

/** Ctrl+K, ⌘K or / from anywhere. */
function Search() {
  const field = useRef<HTMLInputElement>(null);
  // Before the page is painted, so that the first key counts.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
      if (!isShortcut && !(event.key === '/' && !isTyping(event))) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text === '') return;
    focusMain();
    go(addressOf('search', undefined, { text }));
  };
  const [label, placeholder] = may('members:read')
    ? ['Find a member, an account, a transfer or a break', 'Find a member, account or transfer (Ctrl K)']
    : ['Find a client, a break or an operator', 'Find a client, break or operator (Ctrl K)'];
  return html`<form role="search" class="search" onSubmit=${submit}>
    <label class="visually-hidden" for=${searchId}>${label}</label>
    <input id=${searchId} ref=${field} type="search" placeholder=${placeholder} maxlength="254" autocomplete="off" />
  </form>`;
}

/** Keys of a screen are no keys while the operator writes or a dialog is open. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=checkbox]), select, textarea, dialog') !== null
  );
}

interface ScreenProps {
  readonly title: string;
  readonly lead?: Children;
  readonly acts?: Children;
  readonly children?: Children;
}

/** The heading takes the focus when the screen appears. */
export function Screen({ title, lead, acts, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // A screen that becomes ready while the operator writes a search takes no key of it.
    if (document.activeElement?.id !== searchId) heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  useEffect(() => {
    document.title = `${title} · ${session.value?.institution.name}`;
  }, [title]);
  return html`<div class="screen">
    <div class="head">
      <div><h1 tabindex="-1" ref=${heading}>${title}</h1>${lead && html`<p class="quiet">${lead}</p>`}</div>
      ${acts && html`<div class="actions">${acts}</div>`}
    </div>
    ${children}
  </div>`;
}

interface StatefulProps<Value> {
  readonly state: Loaded<Value>;
  readonly subject: string;
  readonly again: () => void;
  readonly children: (value: Value) => Children;
}

export function Stateful<Value>(props: StatefulProps<Value>) {
  return html`<${AnyStateful} ...${props} sentenceOf=${sentenceOf} />`;
}

/** A screen that the roles of the operator do not allow, under an address that somebody shared. */
export function NotAllowed() {
  return html`<${Screen} title="Not allowed">
    <${Notice} kind="warn" title="Your roles do not allow this screen."><p>You have: ${session.value?.roles.join(', ')}.</p><//>
  <//>`;
}
