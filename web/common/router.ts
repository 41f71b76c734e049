import { computed, signal } from '@preact/signals';
import { partsOf, screenPartOf, withViewPart } from './address.ts';

/**
 * The screen and its view stand behind the `#` of the address: /app/demo-web#/accounts/a-1001-checking. Browsers send that part to no server, so
 * ids of accounts and typed names do not come into logs (ADR 76).
 */
const address = signal(readAddress());
/** A change of the view alone is none of this, so the screen is not drawn again for it. */
const screenPart = computed(() => screenPartOf(address.value));

addEventListener('hashchange', () => {
  address.value = readAddress();
});

/** Takes the parameters of a sign-in out of the address, and shows the screen that it names. No event tells of such a change. */
export function replaceAddress(text: string): void {
  history.replaceState(null, '', text);
  address.value = readAddress();
}

function readAddress(): string {
  return location.hash.startsWith('#/') ? location.hash.slice(1) : '/';
}

export interface Place {
  /** `accounts` of `/accounts/a-1001-checking`; empty for the first screen. */
  readonly screen: string;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

/** Shows a screen, as a link to it does. */
export function go(text: string): void {
  writeView();
  location.hash = text;
}

export function currentPlace(): Place {
  const { route, query } = partsOf(screenPart.value);
  const [, screen = '', id] = route.split('/');
  return { screen, id: id && decodeId(id), query };
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Empty parts of the query are left out. */
export function addressOf(screen: string, id?: string, query: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return `#/${screen}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`;
}

/** A part of the view, like `accounts.sort`; empty for its default. A component that reads it is drawn again when it changes. */
export function viewPart(name: string): string {
  return partsOf(address.value).view.get(name) ?? '';
}

/** Browsers refuse an address that changes at each key of somebody who types fast. */
const writeMillis = 200;
let pending: { readonly timer: ReturnType<typeof setTimeout>; readonly over: string } | undefined;

/** Shows at once, and stands in the address soon after. It replaces the address, so that Back leads to the screen before. */
export function setViewPart(name: string, value: string): void {
  clearTimeout(pending?.timer);
  address.value = withViewPart(address.value, name, value);
  pending = { timer: setTimeout(writeView, writeMillis), over: location.hash };
}

/** An address that a link or Back has changed meanwhile is another screen's. */
function writeView(): void {
  if (pending === undefined) return;
  clearTimeout(pending.timer);
  if (pending.over === location.hash) history.replaceState(history.state, '', `#${address.value}`);
  pending = undefined;
}

// The entry that Back returns to, and a page that is read again, have the last key.
addEventListener('click', writeView, { capture: true });
addEventListener('pagehide', writeView);
