import { appendAudit, type Origin } from '../../events/index.ts';
import { coveredKeys, type MemberActor } from '../../institutions/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, Queryable } from '../../storage/index.ts';
import { type Alert, type Language, languages } from '../alert.ts';
import { toAlert } from '../alert-row.ts';
import { messageOf } from '../texts/message.ts';
import { selectAlert, selectInbox, selectLanguage, updateReadAt } from './inbox-queries.ts';

/** An alert with its text in the member's language. */
export interface ShownAlert extends Alert {
  readonly message: string;
}

const newest = 2n ** 63n - 1n;

/** The member's inbox, the newest first. Alerts about an account that the member no longer holds, or that the consent does not cover, are left out. */
export async function listAlerts(
  { database }: { readonly database: Database },
  actor: MemberActor,
  { unreadOnly, page: { limit, after } }: { readonly unreadOnly: boolean; readonly page: PageRequest },
): Promise<Page<ShownAlert>> {
  return database.read(actor.institutionId, async (db) => {
    const below = after?.[0] ?? newest;
    const [rows, language] = await Promise.all([
      selectInbox(db, { ...actor, coveredKeys: coveredKeys(actor) }, { unreadOnly, below, most: limit + 1 }),
      languageOf(db, actor),
    ]);
    return pageOf(
      rows,
      limit,
      (row) => shown(toAlert(row), language),
      ({ alertKey }) => [alertKey],
    );
  });
}

/** Marks an alert as read or as unread. A repetition changes nothing. Problem `not_found`. */
export async function markAlert(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  actor: MemberActor,
  {
    alertId,
    isRead,
    origin,
  }: { readonly alertId: string; readonly isRead: boolean; readonly origin: Origin },
): Promise<ShownAlert> {
  return database.transaction(actor.institutionId, async (tx) => {
    const row = await selectAlert(tx, { ...actor, coveredKeys: coveredKeys(actor) }, alertId);
    if (row === undefined) throw new Problem('not_found', 'There is no such alert.');
    const { userKey, userId, clientId } = actor;
    const now = clock();
    const readAt = isRead ? now : null;
    if (await updateReadAt(tx, { userKey, alertKey: row.alertKey, readAt })) {
      const entry = {
        action: 'alert.marked',
        outcome: 'succeeded',
        reason: isRead ? 'read' : 'unread',
      } as const;
      await appendAudit(tx, { ...entry, origin, clientId, userId, subject: alertId }, now);
    }
    return shown({ ...toAlert(row), isRead }, await languageOf(tx, actor));
  });
}

function shown(alert: Alert, language: Language): ShownAlert {
  return { ...alert, message: messageOf(alert, language) };
}

async function languageOf(db: Queryable, { userKey }: MemberActor): Promise<Language> {
  const chosen = await selectLanguage(db, userKey);
  return languages.find((language) => language === chosen) ?? 'en';
}
