import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import {
  changeScreening,
  findScreening,
  type HookSettings,
  removeScreening,
  rotateScreeningSecret,
} from '../../screening/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { OperatorDeps } from '../deps.ts';
import { institutionOf } from './institution-of.ts';

/** The settings of screening that operators see, with the amount as decimal text. */
export interface ShownScreening extends Omit<HookSettings, 'fromMinor'> {
  readonly on: true;
  readonly from: string;
  readonly currencyCode: string;
}

type Deps = Pick<OperatorDeps, 'database' | 'webhooks' | 'screener'>;

/** Undefined if the institution screens no orders. */
export async function showScreening(
  deps: Deps,
  institutionId: InstitutionId,
): Promise<ShownScreening | undefined> {
  const settings = await findScreening(deps, institutionId);
  return settings && shown(deps, institutionId, settings);
}

/** Changes all but the address, which may be inside the network and so is the command line's. Problem `not_found`. */
export async function changeScreeningRules(
  deps: Deps,
  institutionId: InstitutionId,
  given: {
    readonly change: Partial<Omit<HookSettings, 'url'>>;
    readonly origin: CommandOrigin;
  },
): Promise<ShownScreening> {
  return shown(deps, institutionId, await changeScreening(deps.webhooks, institutionId, given));
}

/** Returns the new secret; the one before signs as well until the overlap ends. Problems `not_found`, `rotation_under_way`. */
export function rotateScreening(
  { webhooks }: Deps,
  institutionId: InstitutionId,
  given: { readonly overlapHours: number; readonly origin: CommandOrigin },
): Promise<{ readonly secret: string }> {
  return rotateScreeningSecret(webhooks, institutionId, given);
}

/** Problem `not_found`. */
export function switchScreeningOff(
  { webhooks }: Deps,
  institutionId: InstitutionId,
  origin: CommandOrigin,
): Promise<void> {
  return removeScreening(webhooks, institutionId, origin);
}

/** Asks about an invented order. Undefined if the institution screens none. The audit has the act with the verdict, or why there was none. */
export async function tryScreening(
  deps: Pick<OperatorDeps, 'database' | 'clock' | 'screener'>,
  institutionId: InstitutionId,
  origin: CommandOrigin,
) {
  const { currency } = await institutionOf(deps, institutionId);
  const tried = await deps.screener.try(institutionId, currency);
  if (tried === undefined) return undefined;
  const { answer, error, millis } = tried;
  const after = answer === undefined ? { error } : { verdict: answer.verdict };
  const entry = { action: 'screening.tested', outcome: 'succeeded', origin, after } as const;
  await deps.database.transaction(institutionId, (tx) => appendAudit(tx, entry, deps.clock()));
  return answer === undefined ? { error, millis } : { ...answer, millis };
}

async function shown(
  deps: Deps,
  institutionId: InstitutionId,
  { url, fromMinor, timeoutMillis, onSilence, holdSeconds }: HookSettings,
): Promise<ShownScreening> {
  const { currency: currencyCode } = await institutionOf(deps, institutionId);
  const from = formatMinor(fromMinor, currencyCode);
  return { on: true, url, from, currencyCode, timeoutMillis, onSilence, holdSeconds };
}
