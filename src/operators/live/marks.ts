import { createHash } from 'node:crypto';
import type { PulseRow } from './pulse-queries.ts';

/** The screens that hear of a change. */
const followedScreens = ['review', 'breaks', 'webhooks'] as const;
export type FollowedScreen = (typeof followedScreens)[number];

/** A short hash for each screen. Two processes make the same, so a console may go on at another one. */
export type Marks = Readonly<Record<FollowedScreen, string>>;

export function marksOf(pulse: PulseRow): Marks {
  return {
    review: hashOf(pulse.review),
    breaks: hashOf(pulse.breaks),
    webhooks: hashOf(pulse.webhooks),
  };
}

/** The id of an event. A console sends the last one that it got as `Last-Event-ID`. */
export function idOf(marks: Marks): string {
  return followedScreens.map((screen) => marks[screen]).join('.');
}

/** Undefined for a text that is no id: then every screen counts as changed. */
export function readId(text: string | undefined): Marks | undefined {
  const [, review, breaks, webhooks] = /^([\w-]{11})\.([\w-]{11})\.([\w-]{11})$/.exec(text ?? '') ?? [];
  if (review === undefined || breaks === undefined || webhooks === undefined) return undefined;
  return { review, breaks, webhooks };
}

export function changedBetween(seen: Marks | undefined, now: Marks): FollowedScreen[] {
  return followedScreens.filter((screen) => seen?.[screen] !== now[screen]);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64url');
}
