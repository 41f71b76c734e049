import { randomUUID } from 'node:crypto';
import type { Vault } from '../../auth/index.ts';
import {
  type AuditAction,
  type AuditEntry,
  appendAudit,
  type Origin,
  whatChanged,
} from '../../events/index.ts';
import type { Institution } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../../storage/index.ts';
import { newSigningKey, secretText } from '../https/signature.ts';
import { type TargetRefusal, type TargetRules, targetRefusal } from '../https/target.ts';
import type { Endpoint, EndpointSettings, EndpointStatus } from './endpoint.ts';
import {
  deleteEndpoint,
  type EndpointKey,
  endKeys,
  insertEndpoint,
  insertKey,
  selectEndOfFeed,
  selectEndpoint,
  selectEndpoints,
  selectKeys,
  updateEndpoint,
} from './endpoint-queries.ts';

export interface WebhookDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly institution: (institutionId: InstitutionId) => Promise<Institution | undefined>;
  /** The ports that institutions may send to, beside demos. */
  readonly ports: readonly number[];
}

/** A client acts on its own endpoints, an operator (null) on those of every client. */
export interface EndpointCaller {
  readonly institutionId: InstitutionId;
  readonly clientId: string | null;
  readonly origin: Origin;
}

/** The keys by which a receiver verifies. The secret is shown when it is made, and never again. */
export interface EndpointKeys {
  readonly secret: string;
  readonly publicKey: string;
}

/** A sealed key opens for webhooks only. */
export const secretPurpose = 'webhook secret';
export const privateKeyPurpose = 'webhook private key';

/** A client may have so many endpoints. */
const mostEndpoints = 20;

export async function rulesOf(deps: WebhookDeps, institutionId: InstitutionId): Promise<TargetRules> {
  const institution = await deps.institution(institutionId);
  return { demo: institution?.demo === true, ports: deps.ports };
}

/** New endpoints start behind the newest event. Problems `invalid_request`, `too_many_endpoints`. */
export async function createWebhook(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller & { readonly clientId: string },
  settings: EndpointSettings,
): Promise<{ readonly endpoint: ShownEndpoint; readonly keys: EndpointKeys }> {
  await requireTarget(deps, institutionId, settings.url);
  const endpointId = randomUUID();
  return deps.database.transaction(institutionId, async (tx) => {
    const others = await selectEndpoints(tx, clientId);
    if (others.length >= mostEndpoints) {
      throw new Problem('too_many_endpoints', `A client has at most ${mostEndpoints} endpoints.`);
    }
    const createdAt = deps.clock();
    const end = await selectEndOfFeed(tx);
    await insertEndpoint(tx, { ...settings, endpointId, transport: 'HTTPS', clientId, createdAt, ...end });
    const keys = await addKey(deps, tx, { endpointId, slot: 1 });
    const endpoint = await requireEndpoint(tx, { endpointId, clientId });
    await record(deps, tx, {
      action: 'webhook.created',
      endpoint,
      origin,
      changes: whatChanged(undefined, audited(endpoint)),
    });
    const publicKeys = [{ publicKey: keys.publicKey, expiresAt: null }];
    return { endpoint: { ...endpoint, publicKeys }, keys };
  });
}

export interface ShownEndpoint extends Endpoint {
  /** The newest first; two while they are being rotated. */
  readonly publicKeys: readonly { readonly publicKey: string; readonly expiresAt: Date | null }[];
}

export async function listWebhooks(
  { database, clock }: WebhookDeps,
  { institutionId, clientId }: Omit<EndpointCaller, 'origin'>,
): Promise<ShownEndpoint[]> {
  return database.read(institutionId, async (db) => {
    const endpoints = await selectEndpoints(db, clientId);
    const ids = endpoints.map(({ endpointId }) => endpointId);
    const keys = await selectKeys(db, ids, clock());
    return endpoints.map((endpoint) => ({
      ...endpoint,
      publicKeys: keys.filter(({ endpointId }) => endpointId === endpoint.endpointId),
    }));
  });
}

/** Problem `not_found`, also for an endpoint of another client. */
export async function getWebhook(
  deps: WebhookDeps,
  caller: Omit<EndpointCaller, 'origin'>,
  endpointId: string,
): Promise<ShownEndpoint> {
  const found = (await listWebhooks(deps, caller)).find((endpoint) => endpoint.endpointId === endpointId);
  return found ?? refuseUnknown();
}

export type WebhookChange = Partial<EndpointSettings> & { readonly status?: EndpointStatus | undefined };

/** Any change also ends a pause after failures: the next event is sent at once. Problems `not_found`, `invalid_request`. */
export async function changeWebhook(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller,
  { endpointId, change }: { readonly endpointId: string; readonly change: WebhookChange },
): Promise<void> {
  if (change.url !== undefined) await requireTarget(deps, institutionId, change.url);
  await deps.database.transaction(institutionId, async (tx) => {
    const before = await requireEndpoint(tx, { endpointId, clientId, lock: true });
    const { status = before.status, ...settings } = change;
    if (Object.values(settings).some((value) => value !== undefined)) refuseMail(before);
    const reason = clientId === null ? 'operator' : 'client';
    const statusReason = status === 'ACTIVE' ? null : status === before.status ? before.statusReason : reason;
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
    const after: Endpoint = { ...before, ...given, status, statusReason };
    await updateEndpoint(tx, after);
    const changes = whatChanged(audited(before), audited(after));
    await record(deps, tx, { action: 'webhook.changed', endpoint: before, origin, changes });
  });
}

/** A new key signs beside the current one until that ends. Problems `not_found`, `rotation_under_way`. */
export async function rotateWebhookKeys(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller,
  { endpointId, overlapHours }: { readonly endpointId: string; readonly overlapHours: number },
): Promise<EndpointKeys> {
  return deps.database.transaction(institutionId, async (tx) => {
    const endpoint = await requireEndpoint(tx, { endpointId, clientId, lock: true });
    refuseMail(endpoint);
    const now = deps.clock();
    const valid = await selectKeys(tx, [endpointId], now);
    if (valid.length > 1) {
      throw new Problem('rotation_under_way', 'Two secrets are valid. Wait until the older one has ended.');
    }
    await endKeys(tx, endpointId, { now, endsAt: new Date(now.getTime() + overlapHours * 3_600_000) });
    const keys = await addKey(deps, tx, { endpointId, slot: valid[0]?.slot === 1 ? 2 : 1 });
    const changes = { after: { overlapHours, publicKey: keys.publicKey } };
    await record(deps, tx, { action: 'webhook.rotated', endpoint, origin, changes });
    return keys;
  });
}

/** Deletes the endpoint with its keys and its log. Problem `not_found`. */
export async function deleteWebhook(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller,
  endpointId: string,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const endpoint = await requireEndpoint(tx, { endpointId, clientId, lock: true });
    await deleteEndpoint(tx, endpointId);
    const changes = whatChanged(audited(endpoint), undefined);
    await record(deps, tx, { action: 'webhook.deleted', endpoint, origin, changes });
  });
}

/** Problem `not_found`. */
export async function requireEndpoint(
  tx: Transaction,
  key: EndpointKey & { readonly lock?: boolean },
): Promise<Endpoint> {
  return (await selectEndpoint(tx, key)) ?? refuseUnknown();
}

/** Mail has a position and a status, and neither keys nor an address to ping. Problem `invalid_request`. */
export function refuseMail({ transport }: Endpoint): void {
  if (transport === 'SMTP') {
    throw new Problem(
      'invalid_request',
      'This is the mail to members: use the commands of `sharedraft alerts`.',
    );
  }
}

export function refuseUnknown(): never {
  throw new Problem('not_found', 'There is no such endpoint.');
}

export async function record(
  { clock }: Pick<WebhookDeps, 'clock'>,
  tx: Transaction,
  act: {
    readonly action: AuditAction;
    readonly endpoint: Pick<Endpoint, 'endpointId' | 'clientId'>;
    readonly origin: Origin;
    readonly reason?: string;
    readonly changes?: Pick<AuditEntry, 'before' | 'after'>;
  },
): Promise<void> {
  const { action, endpoint, origin, reason, changes } = act;
  const { endpointId: subject, clientId } = endpoint;
  await appendAudit(
    tx,
    { action, outcome: 'succeeded', reason, origin, clientId: clientId ?? undefined, subject, ...changes },
    clock(),
  );
}

/** The properties whose changes the audit shows. */
function audited({ url, description, eventTypes, payload, ordering, status, statusReason }: Endpoint) {
  return { url, description, eventTypes, payload, ordering, status, statusReason };
}

async function addKey(
  { vault, clock }: WebhookDeps,
  tx: Transaction,
  { endpointId, slot }: { readonly endpointId: string; readonly slot: number },
): Promise<EndpointKeys> {
  const { secret, privateKey, publicKey } = newSigningKey();
  await insertKey(tx, endpointId, {
    slot,
    sealedSecret: vault.seal(secretPurpose, secret),
    sealedPrivateKey: vault.seal(privateKeyPurpose, privateKey),
    publicKey,
    createdAt: clock(),
  });
  return { secret: secretText(secret), publicKey };
}

const refusals: Readonly<Record<TargetRefusal, string>> = {
  malformed: 'Must be an absolute URL without a user, a password or a fragment.',
  scheme: 'Must begin with https://.',
  port: 'Must have a port that the service sends to; without a port it is 443.',
  address: 'Must be a public address.',
};

async function requireTarget(deps: WebhookDeps, institutionId: InstitutionId, url: string): Promise<void> {
  const refusal = targetRefusal(url, await rulesOf(deps, institutionId));
  if (refusal === undefined) return;
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer: '/url', detail: refusals[refusal] }],
  });
}
