import { ownOrigin } from '../../events/index.ts';
import { CallGroup } from '../../shared/call-group.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { record, type WebhookDeps } from '../endpoints/endpoints.ts';
import { type Attempt, type AttemptOfEndpoint, insertAttempts, keptSuccesses } from './attempt-queries.ts';
import {
  advanceEndpoints,
  deleteDeliveries,
  leaseEndpoints,
  releaseEndpoints,
  upsertDeliveries,
} from './delivery-queries.ts';
import { type BatchOutcome, outcomeOf, type Pair } from './outcome.ts';

/** After this another process may send. */
const leaseMillis = 60_000;
/** Successes of a busy endpoint are logged together, so that the log costs no row for each delivery. */
const logMillis = 5_000;
/** Those of an endpoint that has become quiet are logged sooner. */
const quietMillis = 500;

interface Batch extends BatchOutcome {
  readonly endpoint: Endpoint;
}

/** Attempts that the log does not show yet. */
interface Unlogged {
  readonly institutionId: InstitutionId;
  attempts: readonly Attempt[];
  addedAt: number;
  loggedAt: number;
}

interface InstitutionCalls {
  readonly lease: CallGroup<string, Endpoint | undefined>;
  readonly release: CallGroup<string, undefined>;
  readonly note: CallGroup<Batch, boolean>;
}

/**
 * Leases, and the outcomes of batches. Those of several endpoints of an institution that come together are one statement or
 * one transaction: at a hundred endpoints there would be a thousand commits a second otherwise.
 */
export class DeliveryNotes {
  readonly #deps: Pick<WebhookDeps, 'database' | 'clock'>;
  /** This process. */
  readonly #processId: string;
  readonly #calls = new Map<InstitutionId, InstitutionCalls>();
  readonly #unlogged = new Map<string, Unlogged>();

  constructor(deps: Pick<WebhookDeps, 'database' | 'clock'>, processId: string) {
    this.#deps = deps;
    this.#processId = processId;
  }

  /** Undefined if another process sends to it, or there is nothing to do. */
  lease(institutionId: InstitutionId, endpointId: string): Promise<Endpoint | undefined> {
    return this.#callsOf(institutionId).lease.call(endpointId);
  }

  release(institutionId: InstitutionId, endpointId: string): Promise<void> {
    return this.#callsOf(institutionId).release.call(endpointId);
  }

  /**
   * Writes the results, moves the position and renews the lease, in one transaction. Undefined if the lease was lost: then nothing
   * is written, and the events are sent again.
   */
  async note(
    institutionId: InstitutionId,
    { endpoint, pairs }: { readonly endpoint: Endpoint; readonly pairs: readonly Pair[] },
  ): Promise<Endpoint | undefined> {
    const outcome = outcomeOf(endpoint, pairs, this.#deps.clock());
    const isKept = await this.#callsOf(institutionId).note.call({ endpoint, ...outcome });
    return isKept ? outcome.next : undefined;
  }

  /** Logs the successes that have waited long enough; all of them when the process ends. */
  async logSuccesses(which: 'due' | 'all'): Promise<void> {
    const now = performance.now();
    const due = new Map<InstitutionId, AttemptOfEndpoint[]>();
    for (const [endpointId, { institutionId, attempts, addedAt, loggedAt }] of this.#unlogged) {
      const isDue = which === 'all' || now - addedAt >= quietMillis || now - loggedAt >= logMillis;
      if (!isDue) continue;
      const others = due.get(institutionId) ?? [];
      due.set(institutionId, [...others, ...attempts.map((attempt) => ({ endpointId, ...attempt }))]);
      this.#unlogged.delete(endpointId);
    }
    for (const [institutionId, attempts] of due) {
      await this.#deps.database.transaction(institutionId, (tx) => insertAttempts(tx, attempts));
    }
  }

  #callsOf(institutionId: InstitutionId): InstitutionCalls {
    const known = this.#calls.get(institutionId);
    if (known !== undefined) return known;
    const { database, clock } = this.#deps;
    const leasedBy = this.#processId;
    const calls: InstitutionCalls = {
      lease: new CallGroup(async (endpointIds) => {
        const now = clock();
        const until = new Date(now.getTime() + leaseMillis);
        const leased = await database.write(institutionId, (db) =>
          leaseEndpoints(db, endpointIds, { leasedBy, until, now }),
        );
        const byId = new Map(leased.map((endpoint) => [endpoint.endpointId, endpoint]));
        return endpointIds.map((id) => byId.get(id));
      }),
      release: new CallGroup(async (endpointIds) => {
        await database.write(institutionId, (db) => releaseEndpoints(db, endpointIds, leasedBy));
        return endpointIds.map(() => undefined);
      }),
      note: new CallGroup((batches) => this.#write(institutionId, batches)),
    };
    this.#calls.set(institutionId, calls);
    return calls;
  }

  async #write(institutionId: InstitutionId, batches: readonly Batch[]): Promise<boolean[]> {
    const { database, clock } = this.#deps;
    const at = clock();
    const until = new Date(at.getTime() + leaseMillis);
    const logs = batches.map((batch) => this.#logOf(batch));
    const kept = await database.transaction(institutionId, async (tx) => {
      const moves = batches.map(({ endpoint, next }) => ({ from: endpoint.number, to: next }));
      const advanced = await advanceEndpoints(tx, moves, { leasedBy: this.#processId, until });
      const isKept = batches.map(({ endpoint }) => advanced.has(endpoint.endpointId));
      const written = batches.filter((_, place) => isKept[place]);
      await deleteDeliveries(
        tx,
        written.flatMap(({ done, endpoint }) => done.map((number) => ({ ...endpoint, number }))),
      );
      await upsertDeliveries(
        tx,
        written.flatMap(({ kept: rows, endpoint }) =>
          rows.map((row) => ({ endpointId: endpoint.endpointId, ...row })),
        ),
        at,
      );
      await insertAttempts(
        tx,
        logs.flatMap((attempts, place) => (isKept[place] ? attempts : [])),
      );
      for (const { endpoint, next } of written) await this.#recordEnd(tx, endpoint, next);
      return isKept;
    });
    for (const [place, batch] of batches.entries()) {
      if (kept[place]) this.#noteLogged(institutionId, batch, (logs[place] ?? []).length > 0);
    }
    return kept;
  }

  /** The attempts that this note logs: none while only successes came, and not long ago. */
  #logOf({ endpoint, attempts }: Batch): AttemptOfEndpoint[] {
    const { endpointId } = endpoint;
    const before = this.#unlogged.get(endpointId);
    const hasFailed = attempts.some(({ delivered }) => !delivered);
    if (before !== undefined && !hasFailed && performance.now() - before.loggedAt < logMillis) return [];
    return [...(before?.attempts ?? []), ...attempts].map((attempt) => ({ endpointId, ...attempt }));
  }

  #noteLogged(institutionId: InstitutionId, { endpoint, attempts }: Batch, isLogged: boolean): void {
    const now = performance.now();
    const before = this.#unlogged.get(endpoint.endpointId);
    this.#unlogged.set(endpoint.endpointId, {
      institutionId,
      attempts: isLogged ? [] : [...(before?.attempts ?? []), ...attempts].slice(-keptSuccesses),
      addedAt: now,
      loggedAt: isLogged ? now : (before?.loggedAt ?? now),
    });
  }

  async #recordEnd(tx: Transaction, endpoint: Endpoint, next: Endpoint): Promise<void> {
    const { status, statusReason: reason } = next;
    if (status === endpoint.status || reason === null) return;
    await record(this.#deps, tx, { action: 'webhook.disabled', endpoint, origin: ownOrigin(), reason });
  }
}
