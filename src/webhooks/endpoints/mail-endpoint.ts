import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../storage/index.ts';
import { deleteEndpoint, insertEndpoint, selectEndOfFeed } from './endpoint-queries.ts';

/** The endpoint of an institution's mail, from the end of the feed on. Returns its id. */
export async function openMailEndpoint(
  tx: Transaction,
  eventTypes: readonly string[],
  createdAt: Date,
): Promise<string> {
  const endpointId = randomUUID();
  const settings = {
    url: 'smtp:',
    description: null,
    eventTypes,
    payload: 'FULL',
    ordering: 'ACCOUNT',
  } as const;
  const end = await selectEndOfFeed(tx);
  await insertEndpoint(tx, { ...settings, endpointId, transport: 'SMTP', clientId: null, createdAt, ...end });
  return endpointId;
}

/** With everything that waits. */
export async function closeMailEndpoint(tx: Transaction, endpointId: string): Promise<void> {
  await deleteEndpoint(tx, endpointId);
}
