import type { Order } from './transfer.ts';

/** In this tab only, and only until the member is back from the page of sign-in. */
const key = 'order';

export function keepOrder(order: Order): void {
  sessionStorage.setItem(key, JSON.stringify(order));
}

/** The order that waited for a sign-in, once. It has its id, so it moves the money at most once. */
export function takeOrder(): Order | undefined {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? undefined : JSON.parse(text);
}
