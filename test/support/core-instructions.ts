import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { clientOf, type DemoCaller } from './demo.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';

const instructions = '/digitalbanking/core/v1/instructions';

/** A connector of the institution lakeside, which speaks for its core. */
export interface Connector extends DemoCaller {
  /** The instructions, as the core gets them. */
  // biome-ignore lint/suspicious/noExplicitAny: the contract has checked their shape
  take(query?: string): Promise<any[]>;
  accept(id: string): ReturnType<DemoCaller['post']>;
  reject(id: string): ReturnType<DemoCaller['post']>;
}

/** The demo, with a core that keeps the books of lakeside, whose policy is WAIT. `before` acts while the own ledger is the record. */
export async function startCoreService(
  options: TestServiceOptions = {},
  before: (bank: DemoCaller) => Promise<void> = async () => {},
): Promise<TestService & { readonly institutionId: InstitutionId }> {
  const service = await startTestService(options);
  await before(await clientOf(service));
  const [row] = await service.db.superuser<{ id: InstitutionId }>(
    "update institutions set record = 'core' where code = 'lakeside' returning institution_id as id",
  );
  if (row === undefined) throw new Error('the demo has no lakeside');
  await rememberedSettings();
  return { ...service, institutionId: row.id };
}

/** A new client of lakeside with the scopes of a connector. */
export async function aConnector(
  service: TestService & { readonly institutionId: InstitutionId },
  clientId: string,
): Promise<Connector> {
  const secret = `${clientId}-secret-of-32-characters-0123`;
  const { auth } = service.service.context;
  const { institutionId } = service;
  await createClient(
    auth,
    {
      institutionId,
      clientId,
      name: clientId,
      secret,
      scopes: ['core:read', 'core:write'],
      grants: ['client_credentials'],
    },
    ownOrigin(),
  );
  const caller = await clientOf(service, [clientId, secret]);
  return {
    ...caller,
    take: async (query = '') => (await caller.get(`${instructions}${query}`)).body,
    accept: (id) =>
      caller.post(`${instructions}/${id}/outcome`, { outcome: 'ACCEPTED', coreReference: `core-${id}` }),
    reject: (id) =>
      caller.post(`${instructions}/${id}/outcome`, { outcome: 'REJECTED', code: 'NSF', reason: 'No funds.' }),
  };
}

/** Lays down the policies of lakeside for all types, as a line of transfer-policies.csv. They bind within a second. */
export async function setCorePolicy(
  service: TestService & { readonly institutionId: InstitutionId },
  policy: {
    readonly mode?: 'WAIT' | 'MEMO';
    readonly memoUpTo?: number;
    readonly waitSeconds?: number;
    readonly standIn?: 'WAIT' | 'DECLINE';
    readonly reviewAbove?: number;
    readonly cutOff?: string;
  },
): Promise<void> {
  await service.db.superuser(
    `insert into transfer_policies (institution_id, transfer_type, currency, review_above, review_seconds, on_review_timeout,
                                    cut_off, payment_options, core_policy, memo_up_to, core_wait_seconds, stand_in)
     select $1, t, 'USD', $2::bigint, case when $2::bigint is not null then 3600 end,
            case when $2::bigint is not null then 'EXPIRE' end, $3::time, '{DEFAULT}', $4, $5::bigint, $6::integer, $7
     from unnest(array['STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI']) as t
     on conflict (institution_id, transfer_type, currency) do update
     set review_above = excluded.review_above, review_seconds = excluded.review_seconds,
         on_review_timeout = excluded.on_review_timeout, cut_off = excluded.cut_off, core_policy = excluded.core_policy,
         memo_up_to = excluded.memo_up_to, core_wait_seconds = excluded.core_wait_seconds, stand_in = excluded.stand_in`,
    [
      service.institutionId,
      policy.reviewAbove ?? null,
      policy.cutOff ?? null,
      policy.mode ?? 'WAIT',
      policy.memoUpTo ?? null,
      policy.waitSeconds ?? 86_400,
      policy.standIn ?? 'WAIT',
    ],
  );
  await rememberedSettings();
}

/** The service remembers settings for a second. */
async function rememberedSettings(): Promise<void> {
  await sleep(1_100);
}
