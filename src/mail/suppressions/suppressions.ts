import { appendAudit, type Origin } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { comparable, isMailAddress } from '../address.ts';
import type { MailDeps } from '../senders/senders.ts';
import {
  deleteSuppression,
  insertSuppression,
  type Suppression,
  selectSuppressions,
} from './suppression-queries.ts';

export type { Suppression } from './suppression-queries.ts';

interface Report extends Pick<Suppression, 'address' | 'reason'> {
  readonly clientId?: string;
  readonly origin: Origin;
}

/** Sends no mail to the address from now on. A repetition changes nothing. Problem `invalid_request`. */
export async function suppressAddress(
  { database, clock }: MailDeps,
  institutionId: InstitutionId,
  { address: given, reason, clientId, origin }: Report,
): Promise<void> {
  const address = requireAddress(given);
  await database.transaction(institutionId, async (tx) => {
    const suppressedAt = clock();
    if (!(await insertSuppression(tx, { address, reason, suppressedAt }))) return;
    const entry = { action: 'mail.suppressed', outcome: 'succeeded', origin, clientId } as const;
    await appendAudit(tx, { ...entry, reason: reason.toLowerCase(), after: { address } }, suppressedAt);
  });
}

/** False if the address was not suppressed. Problem `invalid_request`. */
export async function liftSuppression(
  { database, clock }: MailDeps,
  institutionId: InstitutionId,
  { address: given, origin }: Pick<Report, 'address' | 'origin'>,
): Promise<boolean> {
  const address = requireAddress(given);
  return database.transaction(institutionId, async (tx) => {
    if (!(await deleteSuppression(tx, address))) return false;
    const entry = { action: 'mail.suppression_lifted', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, before: { address } }, clock());
    return true;
  });
}

const addressesAtOnce = 200;

/** All of them, by address. */
export async function* listSuppressions(
  { database }: MailDeps,
  institutionId: InstitutionId,
): AsyncGenerator<Suppression> {
  let after = '';
  for (;;) {
    const found = await database.read(institutionId, (db) => selectSuppressions(db, after, addressesAtOnce));
    yield* found;
    const last = found.at(-1);
    if (last === undefined || found.length < addressesAtOnce) return;
    after = last.address;
  }
}

function requireAddress(given: string): string {
  if (isMailAddress(given)) return comparable(given);
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer: '/emailAddress', detail: 'Must be an e-mail address.' }],
  });
}
