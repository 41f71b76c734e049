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

/** A kind of one-time code that the institution fetches by the id of an event. */
export interface CodeKind {
  /** The kinds of events that announce it. */
  readonly events: readonly CodeEventKind[];
  /** The vault's purpose for the sealed code beside the event. */
  readonly purpose: string;
  readonly readAs: AuditAction;
  readonly deliveredAs: AuditAction;
  /** Finds the user of a code that still works. */
  readonly find: (
    deps: AuthDeps,
    institutionId: InstitutionId,
    code: string,
  ) => Promise<
    | {
        readonly matches: boolean;
        readonly row: Pick<HandedOverCode, 'userId' | 'expiresAt'> & { readonly userKey: bigint };
      }
    | undefined
  >;
}

export interface HandedOverCode {
  readonly code: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

interface HandoverRequest {
  readonly actor: ClientActor;
  readonly eventId: string;
  readonly origin: Origin;
}

/**
 * Returns a one-time code by the id of its event. Since a response may be lost, each request gets the code again until its delivery is
 * acknowledged. The audit entry is written before the response.
 *
 * Problem `not_found`, alike for an unknown event, a delivered code, and a code that is expired, used, replaced or had too many tries.
 */
export async function handOverCode(
  deps: AuthDeps,
  kind: CodeKind,
  { actor: { institutionId, clientId }, eventId, origin }: HandoverRequest,
): Promise<HandedOverCode> {
  const event = await deps.database.read(institutionId, (db) => findCodeEvent(db, eventId, kind.events));
  const code = event?.secret && unsealed(deps.vault, kind.purpose, event.secret);
  if (!code) throw noCode();
  const found = await kind.find(deps, institutionId, code);
  if (!found?.matches || found.row.userKey !== event.userKey) throw noCode();
  const { userId, expiresAt } = found.row;
  const entry = { action: kind.readAs, outcome: 'succeeded', clientId, userId, origin } as const;
  await deps.database.write(institutionId, (db) => appendAudit(db, entry, deps.clock()));
  return { code, userId, expiresAt };
}

/** Wipes a delivered code. A repetition changes nothing. Problem `not_found`: no such event. */
export async function acknowledgeCode(
  deps: AuthDeps,
  kind: CodeKind,
  { actor: { institutionId, clientId }, eventId, origin }: HandoverRequest,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const event = await findCodeEvent(tx, eventId, kind.events);
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
