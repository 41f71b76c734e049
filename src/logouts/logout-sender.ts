import { appendAudit, ownOrigin } from '../events/index.ts';
import { repeatedly } from '../shared/process/repeatedly.ts';
import type { InstitutionId } from '../storage/index.ts';
import { rulesOf, Sender } from '../webhooks/index.ts';
import { issueLogoutToken, type LogoutDeps } from './logout-token.ts';
import { beginAttempts, deleteNotice, type Notice, selectInstitutionsToNotify } from './notice-queries.ts';
import { mostAttempts } from './schedule.ts';

/** People notice no second between a logout here and the one of an app; an idle process asks half as often. */
const lookMillis = 1_000;
/** Requests of one process at a time. */
const mostAtOnce = 64;
/** Requests to one app at a time, so that an app that is silent leaves room for the others. */
const mostToClient = 8;

export interface LogoutSender {
  /** Waits for the requests under way. */
  stop(): Promise<void>;
}

/** An app, and the connections to it, which no other app shares. */
interface Line {
  readonly sender: Sender;
  underWay: number;
}

/**
 * Tells apps in the background that sessions have ended. Any number of processes may run it. An attempt that a process did not finish is
 * repeated like one that failed.
 */
export function startLogoutSender(
  deps: LogoutDeps & { readonly onError: (error: unknown, institutionId?: InstitutionId) => void },
): LogoutSender {
  const { database, clock, onError } = deps;
  const lines = new Map<InstitutionId, Map<string, Line>>();
  const underWay = new Set<Promise<void>>();
  let isStopped = false;

  const lineTo = async (institutionId: InstitutionId, clientId: string): Promise<Line> => {
    const own = lines.get(institutionId) ?? new Map<string, Line>();
    lines.set(institutionId, own);
    const known = own.get(clientId);
    if (known !== undefined) return known;
    const rules = await rulesOf(deps, institutionId);
    const line = { sender: new Sender(rules, { kind: 'logout', mostSockets: mostToClient }), underWay: 0 };
    own.set(clientId, line);
    return line;
  };

  const begin = (institutionId: InstitutionId, notice: Notice, line: Line) => {
    line.underWay += 1;
    const sent = notify(deps, institutionId, { notice, sender: line.sender })
      .catch((error) => onError(error, institutionId))
      .then(() => {
        line.underWay -= 1;
        underWay.delete(sent);
      });
    underWay.add(sent);
  };

  const beginOf = async (institutionId: InstitutionId) => {
    const most = mostAtOnce - underWay.size;
    if (most <= 0) return;
    const own = [...(lines.get(institutionId) ?? [])];
    const rooms = new Map(own.map(([clientId, line]) => [clientId, mostToClient - line.underWay]));
    const notices = await database.write(institutionId, (db) =>
      beginAttempts(db, { now: clock(), rooms, mostToClient, most }),
    );
    for (const notice of notices) begin(institutionId, notice, await lineTo(institutionId, notice.clientId));
  };

  const look = async () => {
    if (underWay.size >= mostAtOnce) return;
    for (const institutionId of await database.directory((db) => selectInstitutionsToNotify(db, clock()))) {
      if (isStopped) return;
      await beginOf(institutionId).catch((error) => onError(error, institutionId));
    }
  };
  const looks = repeatedly(look, { everyMillis: lookMillis, onError });
  return {
    stop: async () => {
      isStopped = true;
      await looks.stop();
      await Promise.all(underWay);
      for (const own of lines.values()) for (const { sender } of own.values()) sender.close();
    },
  };
}

/** One attempt. After the last one that fails, the notice ends with an entry of the audit. */
async function notify(
  deps: LogoutDeps,
  institutionId: InstitutionId,
  { notice, sender }: { readonly notice: Notice; readonly sender: Sender },
): Promise<void> {
  const { database, clock } = deps;
  const { uri: url, clientId, userId, sessionId, attempts } = notice;
  const end = async () => {
    await database.write(institutionId, (db) => deleteNotice(db, notice));
  };
  if (url === null) return end();
  const body = new URLSearchParams({ logout_token: await issueLogoutToken(deps, notice) }).toString();
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'Sharedraft-Logout/1',
  };
  const { status, error } = await sender.post({ url, headers, body });
  // Section 2.8: 200, or 204 of frameworks that send it for an empty body.
  if (status === 200 || status === 204) return end();
  if (attempts < mostAttempts) return;
  await database.transaction(institutionId, async (tx) => {
    if (!(await deleteNotice(tx, notice))) return;
    const reason = error ?? `status_${status}`;
    const entry = { action: 'logout.not_accepted', outcome: 'refused', reason, origin: ownOrigin() } as const;
    await appendAudit(tx, { ...entry, clientId, userId, subject: sessionId }, clock());
  });
}
