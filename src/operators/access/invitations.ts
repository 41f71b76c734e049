import { randomUUID } from 'node:crypto';
import { findCode, issueCode, maxTries, selectorOf } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { type Brand, findInstitutionByCode } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import {
  enrollmentOptions,
  openPage,
  type PasskeyDeps,
  readEnrollment,
  sealPage,
  spend,
} from '../passkeys/ceremony.ts';
import { deletePasskeys, insertPasskey } from '../passkeys/passkey-queries.ts';
import {
  countFailedInvitation,
  selectInvitation,
  upsertInvitation,
  useInvitation,
} from './invitation-queries.ts';
import { insertOperator, lockOperator, type OperatorRow, updateOperator } from './operator-queries.ts';
import type { OperatorRole } from './rights.ts';
import { endSessionsOf } from './session-queries.ts';
import { beginSession, type SignInFrom } from './sessions.ts';

const validMillis = 72 * 60 * 60 * 1000;
/** The vault's purpose for the hash of a code. */
const purpose = 'operator invitation';

export interface Invitation {
  readonly operator: OperatorRow;
  /** Shown once: the database has only its hash. */
  readonly code: string;
  readonly expiresAt: Date;
}

interface Invited {
  readonly name: string;
  readonly email: string;
  readonly roles: readonly OperatorRole[];
  readonly statedReason?: string | undefined;
  readonly origin: CommandOrigin;
}

/** Invites a person. The code is for this person alone, over a way that the administrator trusts. Problem `act_refused`. */
export function inviteOperator(
  deps: PasskeyDeps,
  institutionId: InstitutionId,
  { name, email, roles, statedReason, origin }: Invited,
): Promise<Invitation> {
  const createdAt = deps.clock();
  const operator: OperatorRow = {
    ...{ operatorId: randomUUID(), name, email, roles, status: 'INVITED', source: 'INVITATION', createdAt },
  };
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await insertOperator(tx, operator))) {
      throw new Problem(
        'act_refused',
        'Another operator has this name, one that looks like it, or this e-mail address. Choose another.',
      );
    }
    const entry = { action: 'operator.invited', outcome: 'succeeded', subject: operator.operatorId } as const;
    await appendAudit(tx, { ...entry, statedReason, origin, after: { name, roles } }, createdAt);
    return { operator, ...(await issue(deps, tx, operator)) };
  });
}

/**
 * A new code, for an invitation that expired or for lost passkeys. Every passkey and every session of the operator ends at once. Nobody
 * invites themselves. Problems `act_refused`, `not_found`.
 */
export function inviteAgain(
  deps: PasskeyDeps,
  institutionId: InstitutionId,
  {
    operatorId,
    statedReason,
    origin,
  }: {
    readonly operatorId: string;
    readonly statedReason?: string | undefined;
    readonly origin: CommandOrigin;
  },
): Promise<Invitation> {
  if (origin.operator.operatorId === operatorId) {
    throw new Problem(
      'act_refused',
      'Nobody invites themselves. Add a passkey instead, or ask another administrator.',
    );
  }
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const operator = await lockOperator(tx, operatorId);
    if (operator === undefined) throw new Problem('not_found', 'There is no such operator.');
    if (operator.source !== 'INVITATION')
      throw new Problem('act_refused', 'This operator signs in without a passkey of this service.');
    if (operator.status !== 'INVITED' && operator.status !== 'ACTIVE')
      throw new Problem(
        'act_refused',
        'This operator is suspended or has ended. Resume a suspended one first.',
      );
    const facts = { outcome: 'succeeded', statedReason, origin } as const;
    const invited = { ...facts, action: 'operator.invited', subject: operatorId } as const;
    await appendAudit(tx, { ...invited, reason: 'again' }, at);
    for (const subject of await deletePasskeys(tx, operatorId)) {
      await appendAudit(
        tx,
        { ...facts, action: 'operator.passkey_removed', reason: 'invited_again', subject },
        at,
      );
    }
    await endSessionsOf(tx, operatorId, at);
    return { operator, ...(await issue(deps, tx, operator)) };
  });
}

async function issue(
  { clock, businessTime, auth: { vault } }: PasskeyDeps,
  tx: Transaction,
  { operatorId }: Pick<OperatorRow, 'operatorId'>,
): Promise<{ readonly code: string; readonly expiresAt: Date }> {
  const expiresAt = new Date(businessTime(tx.institutionId, clock()).getTime() + validMillis);
  const { code } = await issueCode(vault, { purpose, expiresAt }, (secret) =>
    upsertInvitation(tx, { operatorId, ...secret }),
  );
  return { code, expiresAt };
}

/** The page on which an invited operator makes the first passkey. */
export interface EnrollmentPage {
  readonly brand: Brand;
  readonly name: string;
  readonly request: string;
  readonly options: object;
}

/**
 * Checks the code of an invitation. Only a wrong secret counts as a try. Undefined, alike for an unknown institution and for a wrong, used or
 * expired code, with the refusal in the audit.
 */
export async function openInvitation(
  deps: PasskeyDeps,
  { institution: institutionCode, code }: { readonly institution: string; readonly code: string },
  { origin }: SignInFrom,
): Promise<EnrollmentPage | undefined> {
  const institution = await deps.database.directory((db) => findInstitutionByCode(db, institutionCode));
  if (institution === undefined) return undefined;
  const { institutionId, brandColor, logoHash } = institution;
  const found = await findCode(deps.auth, institutionId, { text: code, purpose, select: selectInvitation });
  if (found?.matches !== true) {
    // Also for a code that nobody has, so that it takes as long.
    const selector = selectorOf(code);
    await deps.database.write(institutionId, (db) => countFailedInvitation(db, selector, maxTries));
    const subject = found?.row.operatorId;
    const entry = {
      action: 'operator.refused',
      outcome: 'refused',
      reason: 'invitation',
      subject,
      origin,
    } as const;
    deps.auth.audit.note(institutionId, entry);
    return undefined;
  }
  const { operatorId, name } = found.row;
  const facts = { kind: 'invitation', institutionId, operatorId, selector: found.selector } as const;
  const { request, challenge } = sealPage(deps, facts);
  const options = await enrollmentOptions(deps, institutionId, { operatorId, name, challenge, existing: [] });
  const brand = { name: institution.name, color: brandColor, logoHash };
  return { brand, name, request, options };
}

/**
 * Takes the first passkey, activates the operator, and begins a session. Returns its secret; undefined if the passkey or the page is not
 * valid any more.
 */
export async function acceptInvitation(
  deps: PasskeyDeps,
  sent: { readonly request: string; readonly credential: string; readonly name: string },
  from: SignInFrom,
): Promise<string | undefined> {
  const page = openPage(deps, 'invitation', sent.request);
  const key = page && (await readEnrollment(deps, sent, page.challenge));
  if (page === undefined || key === undefined) return undefined;
  const { institutionId, operatorId } = page;
  const at = deps.clock();
  const now = deps.businessTime(institutionId, at);
  return deps.database.transaction(institutionId, async (tx) => {
    // The lock first: an administrator who invites again or ends the operator at this moment comes before or after the whole act.
    const operator = await lockOperator(tx, operatorId);
    if (operator?.status !== 'INVITED' && operator?.status !== 'ACTIVE') return undefined;
    if (!(await useInvitation(tx, page, { maxTries, now }))) return undefined;
    if (!(await spend(tx, page))) return undefined;
    await updateOperator(tx, { ...operator, status: 'ACTIVE' });
    const passkeyId = randomUUID();
    if (!(await insertPasskey(tx, { ...key, passkeyId, operatorId, createdAt: at })))
      throw new Problem('act_refused', 'This passkey is enrolled already. Use another one.');
    const by: CommandOrigin = { ...from.origin, operator: { user: operator.name, operatorId } };
    const entry = { action: 'operator.passkey_added', outcome: 'succeeded', reason: 'invitation' } as const;
    await appendAudit(tx, { ...entry, subject: passkeyId, origin: by }, at);
    return beginSession(tx, deps, { operator, kind: 'BROWSER', method: 'passkey', from });
  });
}
