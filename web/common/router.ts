import { signal } from '@preact/signals';

/**
 * The screen stands behind the `#` of the address: /app/demo-web#/accounts/a-1001-checking. Browsers send that part to no server, so ids of
 * accounts do not come into logs.
 */
const path = signal(readPath());

addEventListener('hashchange', () => {
  path.value = readPath();
});

/** Takes the parameters of a sign-in out of the address, and shows the screen that it names. No event tells of such a change. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address);
  path.value = readPath();
}

function readPath(): string {
  return location.hash.startsWith('#/') ? location.hash.slice(1) : '/';
}

export interface Place {
  /** `accounts` of `/accounts/a-1001-checking`; empty for the first screen. */
  readonly screen: string;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

/** Shows a screen, as a link to it does. */
export function go(address: string): void {
  location.hash = address;
}

export function currentPlace(): Place {
  const [route = '', query] = path.value.split('?', 2);
  const [, screen = '', id] = route.split('/');
  return {
    screen,
    id: id && decodeId(id),
    query: new URLSearchParams(query),
  };
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function addressOf(screen: string, id?: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#/${screen}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`;
}
