import type { Queryable } from '../storage/index.ts';
import { type ReleasedRow, selectReleased } from './inbox/inbox-queries.ts';
import {
  type RuleRow,
  type SettingsRow,
  selectRules,
  selectSettings,
} from './preferences/preference-queries.ts';

interface AlertsOfMember {
  /** Null: the member has set none, and the defaults are in force. */
  readonly settings: SettingsRow | null;
  /** Only those about accounts that the member holds. */
  readonly rules: readonly RuleRow[];
  /** The last alerts that went out, by any channel, the newest first. */
  readonly last: readonly ReleasedRow[];
}

const mostReleased = 20;

/** The alerts of a member, for an operator who serves that member. */
export async function alertsOfMember(
  db: Queryable,
  { userKey, personKey }: { readonly userKey: bigint; readonly personKey: bigint },
): Promise<AlertsOfMember> {
  const [settings, rules, last] = await Promise.all([
    selectSettings(db, userKey),
    selectRules(db, { userKey, personKey, coveredKeys: null }),
    selectReleased(db, userKey, mostReleased),
  ]);
  return { settings: settings ?? null, rules, last };
}
