import {
  type AuditAction,
  appendAudit,
  type CodeEventKind,
  findCodeEvent,
  type Origin,
  wipeSecret,
} from '../../events/index.ts';
import type { ClientActor } from '../../institutions/index.ts';
import { selectUserId } from '../../members/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { DecryptionError, type Vault } from '../keys/vault.ts';

/** A kind of one-time code that goes to the institution beside an event. */
export interface CodeKind {
  readonly event: CodeEventKind;
  /** Of the vault: for the sealed one beside the event. */
  readonly purpose: string;
  readonly readAs: AuditAction;
  readonly deliveredAs: AuditAction;
  /** The user of a code that still works; undefined for any other code. */
  readonly userOf: (
    deps: AuthDeps,
    institutionId: InstitutionId,
    code: string,
  ) => Promise<{ readonly userKey: bigint; readonly userId: string; readonly expiresAt: Date } | undefined>;
}

/**
 * Hands the institution a one-time code, by the id of its event, as often as it asks until it says that the code was
 * delivered: an answer may be lost. Each time is in the audit before it is answered.
 *
 * Problem `not_found`, always alike: no such event here, its code delivered, or one that does not work any more (expired,
 * used, tried too often, replaced by a newer one).
 */
export async function handOverCode(
  deps: AuthDeps,
  kind: CodeKind,
  { institutionId, clientId }: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<{ readonly code: string; readonly userId: string; readonly expiresAt: Date }> {
  const event = await deps.database.read(institutionId, (db) => findCodeEvent(db, eventId, kind.event));
  const code = event?.secret && unsealed(deps.vault, kind.purpose, event.secret);
  if (!code) throw noCode();
  const found = await kind.userOf(deps, institutionId, code);
  if (found?.userKey !== event.userKey) throw noCode();
  const { userId, expiresAt } = found;
  const entry = { action: kind.readAs, outcome: 'succeeded', clientId, userId, origin } as const;
  await deps.database.write(institutionId, (db) => appendAudit(db, entry, deps.clock()));
  return { code, userId, expiresAt };
}

/**
 * The institution has the code: it is wiped, and handed over no more. Saying so again changes nothing.
 *
 * Problem `not_found`: no such event here.
 */
export async function acknowledgeCode(
  deps: AuthDeps,
  kind: CodeKind,
  { institutionId, clientId }: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const event = await findCodeEvent(tx, eventId, kind.event);
    if (event === undefined) throw noCode();
    if (!(await wipeSecret(tx, event.eventKey))) return;
    const userId = await selectUserId(tx, event.userKey);
    const entry = { action: kind.deliveredAs, outcome: 'succeeded', clientId, userId, origin } as const;
    await appendAudit(tx, entry, deps.clock());
  });
}

/** Undefined if sealed with a previous SECRET_KEY; such a code no longer works. */
function unsealed(vault: Vault, purpose: string, sealed: Uint8Array): string | undefined {
  try {
    return Buffer.from(vault.open(purpose, sealed)).toString();
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

function noCode(): Problem {
  return new Problem('not_found', 'There is no code to hand over for this event.');
}
