import type { Vault } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin, whatChanged } from '../../events/index.ts';
import { findInstitution } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { type TargetRules, targetRefusal } from '../../webhooks/index.ts';
import type { AccessDeps } from '../access/sessions.ts';
import {
  deleteProvider,
  endProviderSessions,
  type GroupRoles,
  lockProvider,
  type ProviderRow,
  replaceGroupRoles,
  selectGroupRoles,
  selectProvider,
  upsertProvider,
} from './provider-queries.ts';

/** A sealed secret opens for this only. */
export const secretPurpose = 'operators provider secret';

export interface OperatorProvider extends Omit<ProviderRow, 'sealedSecret'> {
  readonly hasSecret: boolean;
  readonly groupRoles: GroupRoles;
}

/** Undefined: the institution has no provider for its operators. */
export function findOperatorProvider(
  { database }: Pick<AccessDeps, 'database'>,
  institutionId: InstitutionId,
): Promise<OperatorProvider | undefined> {
  return database.read(institutionId, async (db) => {
    const row = await selectProvider(db);
    return row && { ...described(row), groupRoles: await selectGroupRoles(db) };
  });
}

interface ProviderSettings {
  readonly provider: Omit<ProviderRow, 'sealedSecret'>;
  /** Undefined keeps the one before; null: private_key_jwt. */
  readonly secret: string | null | undefined;
  readonly groupRoles: GroupRoles;
  readonly origin: CommandOrigin;
}

/**
 * Operators of the institution sign in at this provider from now on. Another issuer or client ends every session of before. Problem
 * `invalid_request`.
 */
export async function setOperatorProvider(
  deps: AccessDeps,
  institutionId: InstitutionId,
  { provider, secret, groupRoles, origin }: ProviderSettings,
): Promise<void> {
  const rules = await targetRulesOf(deps.database, institutionId, provider.mayBeInside);
  if (targetRefusal(provider.issuer, rules) !== undefined || new URL(provider.issuer).search !== '') {
    const detail =
      'Must be an https address without a user, a query or a fragment. An address inside your network needs --inside.';
    throw new Problem('invalid_request', detail, { errors: [{ pointer: '/issuer', detail }] });
  }
  const { vault } = deps.auth;
  const at = deps.clock();
  await deps.database.transaction(institutionId, async (tx) => {
    const before = await lockProvider(tx);
    const groupsBefore = await selectGroupRoles(tx);
    const row = { ...provider, sealedSecret: sealed(vault, secret, before) };
    await upsertProvider(tx, row);
    await replaceGroupRoles(tx, groupRoles);
    if (before !== undefined && (before.issuer !== row.issuer || before.clientId !== row.clientId))
      await endProviderSessions(tx, at);
    const changes = whatChanged<object>(before && { ...described(before), groupRoles: groupsBefore }, {
      ...described(row),
      groupRoles,
    });
    const entry = { action: 'operator.provider_changed', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, ...changes }, at);
  });
}

/** The sessions that the provider vouched for end. Problem `not_found`. */
export async function removeOperatorProvider(
  { database, clock }: AccessDeps,
  institutionId: InstitutionId,
  origin: CommandOrigin,
): Promise<void> {
  const at = clock();
  await database.transaction(institutionId, async (tx) => {
    const before = await lockProvider(tx);
    if (before === undefined)
      throw new Problem('not_found', 'The institution has no provider for its operators.');
    await deleteProvider(tx);
    await endProviderSessions(tx, at);
    const entry = { action: 'operator.provider_removed', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, before: described(before) }, at);
  });
}

/** The institution's own provider; a demo may have one on this machine and without TLS. */
export async function targetRulesOf(
  database: Database,
  institutionId: InstitutionId,
  mayBeInside: boolean,
): Promise<TargetRules> {
  const institution = await database.directory((db) => findInstitution(db, institutionId));
  return { demo: institution?.demo === true, ports: null, mayBeInside };
}

function sealed(
  vault: Vault,
  secret: string | null | undefined,
  before: ProviderRow | undefined,
): Buffer | null {
  if (secret === undefined) return before?.sealedSecret ?? null;
  return secret === null ? null : Buffer.from(vault.seal(secretPurpose, Buffer.from(secret)));
}

function described({ sealedSecret, ...row }: ProviderRow) {
  return { ...row, hasSecret: sealedSecret !== null };
}
