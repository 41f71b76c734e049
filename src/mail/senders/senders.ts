import { alertEventKinds } from '../../alerts/index.ts';
import { appendAudit, type Origin, whatChanged } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { closeMailEndpoint, openMailEndpoint } from '../../webhooks/index.ts';
import { isMailAddress } from '../address.ts';
import { type MailSender, selectSender, upsertSender } from './sender-queries.ts';

export type { MailSender } from './sender-queries.ts';

export interface MailDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export async function findMailSender(
  { database }: MailDeps,
  institutionId: InstitutionId,
): Promise<MailSender | undefined> {
  return database.read(institutionId, selectSender);
}

/**
 * Sends the institution's alerts by mail from now on, under this name and address. Alerts from before are not sent. Problem
 * `invalid_request`.
 */
export async function configureMail(
  { database, clock }: MailDeps,
  institutionId: InstitutionId,
  { sender, origin }: { readonly sender: MailSender; readonly origin: Origin },
): Promise<void> {
  requireSender(sender);
  await database.transaction(institutionId, async (tx) => {
    const at = clock();
    const before = await selectSender(tx);
    const endpointId = before?.endpointId ?? (await openMailEndpoint(tx, alertEventKinds, at));
    const changes = whatChanged(before && audited(before), audited(sender));
    await upsertSender(tx, { ...sender, endpointId }, at);
    await appendAudit(tx, { action: 'mail.configured', outcome: 'succeeded', origin, ...changes }, at);
  });
}

/** False if it sends none. What waits to be sent is given up. */
export async function stopMail(
  { database, clock }: MailDeps,
  institutionId: InstitutionId,
  origin: Origin,
): Promise<boolean> {
  return database.transaction(institutionId, async (tx) => {
    const before = await selectSender(tx);
    if (before === undefined) return false;
    await closeMailEndpoint(tx, before.endpointId);
    const changes = whatChanged(audited(before), undefined);
    await appendAudit(tx, { action: 'mail.stopped', outcome: 'succeeded', origin, ...changes }, clock());
    return true;
  });
}

function requireSender({ fromName, fromAddress, replyTo }: MailSender): void {
  if (!/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u.test(fromName)) {
    refuse('/fromName', 'Must have 1 to 100 characters, without control characters.');
  }
  if (!isMailAddress(fromAddress)) refuse('/fromAddress', 'Must be an e-mail address.');
  if (replyTo !== null && !isMailAddress(replyTo)) refuse('/replyTo', 'Must be an e-mail address.');
}

function refuse(pointer: string, detail: string): never {
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail }],
  });
}

function audited({ fromName, fromAddress, replyTo }: MailSender) {
  return { fromName, fromAddress, replyTo };
}
