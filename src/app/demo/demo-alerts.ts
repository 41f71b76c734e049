import { type AccountAlertType, getAlertPreferences, replaceAlertPreferences } from '../../alerts/index.ts';
import { ownOrigin } from '../../events/index.ts';
import { findInstitutionByCode } from '../../institutions/index.ts';
import { findUser } from '../../members/index.ts';
import type { AppContext } from '../context.ts';

const checking = 'a-1001-checking';
const wanted: readonly { readonly alertType: AccountAlertType; readonly digits: bigint | null }[] = [
  { alertType: 'TRANSFER_COMPLETE', digits: null },
  { alertType: 'TRANSFER_PENDING', digits: null },
  { alertType: 'TRANSFER_FAILED', digits: null },
  { alertType: 'PAYMENT', digits: 1_000n },
];

/** Lets the first transfer of a newcomer raise an alert: the demo member wants some, unless they have chosen already. */
export async function loadDemoAlerts({ database, alerts }: AppContext): Promise<void> {
  const institution = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  if (institution?.demo !== true) return;
  const { institutionId } = institution;
  const user = await database.read(institutionId, (db) => findUser(db, 'u-demo-member', 'USER_ID'));
  if (user === undefined) return;
  const { userId, userKey, personKey } = user;
  const actor = { kind: 'member', institutionId, clientId: 'demo-app', userId, userKey, personKey } as const;
  if ((await getAlertPreferences(alerts, actor)).isChosen) return;
  const rules = wanted.map(({ alertType, digits }) => ({
    alertType,
    accountId: checking,
    threshold: digits === null ? null : { digits, decimals: 0 },
    channels: ['EMAIL', 'INBOX'] as const,
  }));
  await replaceAlertPreferences(alerts, actor, { wanted: { rules }, origin: ownOrigin() });
}
