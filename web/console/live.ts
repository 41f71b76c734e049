import { signal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Today } from './operations.ts';
import { session, start } from './session.ts';

/*
 * The one stream of this page: GET /operations/v1/today/stream. It is open while the page is visible, since browsers keep few connections to
 * one origin. Browsers reconnect by themselves, with the last event's id, after a time that the service chose for this console.
 */

/** The screens that hear of a change. */
type FollowedScreen = 'review' | 'breaks' | 'webhooks';

/** The figures of the last event; undefined while no stream delivers, so that the screen asks for them. */
export const liveFigures = signal<Today | undefined>(undefined);
/** A number for each screen that grows with each change. */
const changes = signal<Readonly<Record<FollowedScreen, number>>>({ review: 0, breaks: 0, webhooks: 0 });

/** The service sends something at least every fifteen seconds. */
const silenceMillis = 40_000;
/** The time between two tries after the service refused a stream, with as much again at random. */
const againMillis = 20_000;

let source: EventSource | undefined;
let lastId = '';
let timer: ReturnType<typeof setTimeout> | undefined;

/** Opens the stream of the signed-in operator, and keeps it. */
export function followLive(): void {
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  if (!document.hidden) open();
}

function open(): void {
  close();
  if (!session.value) return;
  const query = lastId === '' ? '' : `?${new URLSearchParams({ lastEventId: lastId })}`;
  const opened = new EventSource(`/operations/v1/today/stream${query}`);
  source = opened;
  const heard = (event: MessageEvent) => {
    if (event.lastEventId !== '') lastId = event.lastEventId;
    rest(silenceMillis);
  };
  opened.addEventListener('figures', (event) => {
    heard(event);
    liveFigures.value = JSON.parse(event.data) as Today;
  });
  opened.addEventListener('changed', (event) => {
    heard(event);
    const { screens } = JSON.parse(event.data) as { readonly screens: readonly FollowedScreen[] };
    const counted = screens.map((screen) => [screen, (changes.peek()[screen] ?? 0) + 1]);
    changes.value = { ...changes.peek(), ...Object.fromEntries(counted) };
  });
  opened.addEventListener('beat', heard);
  opened.addEventListener('end', (event) => {
    const { reason } = JSON.parse(event.data) as { readonly reason: string };
    liveFigures.value = undefined;
    // A process that stops: the browser connects to another one. Roles decide which screens show, so they are read first. A session that has
    // ended leads to the page of sign-in.
    if (['roles', 'session'].includes(reason)) void start().then(open, () => rest(againMillis));
    else if (reason !== 'stopping') rest(againMillis);
  });
  opened.addEventListener('error', () => {
    liveFigures.value = undefined;
    rest(opened.readyState === EventSource.CLOSED ? againMillis : silenceMillis);
  });
  rest(silenceMillis);
}

/** Opens the stream anew after a time without an event, as behind a proxy that keeps them back. */
function rest(millis: number): void {
  clearTimeout(timer);
  if (millis === againMillis) source?.close();
  timer = setTimeout(
    () => {
      liveFigures.value = undefined;
      open();
    },
    millis === againMillis ? millis * (1 + share()) : millis,
  );
}

/** A random part of one. */
function share(): number {
  const [drawn = 0] = crypto.getRandomValues(new Uint32Array(1));
  return drawn / 2 ** 32;
}

function close(): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
  liveFigures.value = undefined;
}

/** Calls `again` after each change of what the screen shows. */
export function useChanges(screen: FollowedScreen, again: () => void): void {
  const latest = useRef(again);
  useEffect(() => {
    latest.current = again;
  });
  const seen = useRef(changes.peek()[screen]);
  useSignalEffect(() => {
    const now = changes.value[screen];
    if (now === seen.current) return;
    seen.current = now;
    latest.current();
  });
}
