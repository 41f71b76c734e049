import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstitutionId, Queryable } from '../storage/index.ts';
import { appendEvents } from './outbox.ts';

/** Says that it wrote fewer rows than were sent, as a hidden policy can make a database do without an error. */
const silentlyRefusing: Queryable = {
  query: async () => ({ rows: [], rowCount: 1, command: 'INSERT' }),
};

test('fewer events written than were given is an error, so that the change does not commit without them', async () => {
  const event = { kind: 'member.activated', subjectKey: 1n };
  const at = new Date('2026-03-02T12:00:00Z');
  const appended = (count: number) =>
    appendEvents(silentlyRefusing, 1 as InstitutionId, Array(count).fill(event), at);
  await appended(1);
  await assert.rejects(appended(2), /1 of 2 events/);
});
