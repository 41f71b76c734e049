import { selectLogPosition } from '../../memory/index.ts';
import { type Finding, ok, problem, warning } from '../../operators/index.ts';
import { oneUrlPerHost } from '../../shared/text/database-urls.ts';
import { isUnfit, Standby, type StandbyState } from '../../standbys/index.ts';
import { type Database, refuseUnverifiedUrl } from '../../storage/index.ts';
import type { Config } from '../config.ts';

const sentences: Readonly<Record<StandbyState, string>> = {
  current: 'follows the primary and has replayed everything.',
  unfit: 'has a login or a pooler that the service does not use.',
  behind: 'has not replayed all of the log. Reads go to the primary meanwhile.',
  other: 'is no standby of the primary: it takes writes, or follows another timeline.',
  away: 'cannot be reached. Reads go to the primary meanwhile.',
};

/** Examines each server of STANDBY_DATABASE_URL as the service does. */
export async function* examineStandbys(config: Config, database: Database): AsyncGenerator<Finding> {
  const { standbyDatabaseUrl = '', allowServingAsDatabaseOwner, allowUnverifiedDatabase } = config;
  const check = 'standby';
  if (!allowUnverifiedDatabase) {
    try {
      refuseUnverifiedUrl(standbyDatabaseUrl, 'STANDBY_DATABASE_URL');
    } catch (error) {
      yield problem(check, (error as Error).message, 'docs/configuration.md describes TLS.');
      return;
    }
  }
  const seen = await database.directory(selectLogPosition);
  if (seen === undefined) return;
  for (const [index, url] of oneUrlPerHost(standbyDatabaseUrl).entries()) {
    const name = `Server ${index + 1} of STANDBY_DATABASE_URL`;
    const mayOwnerServe = allowServingAsDatabaseOwner;
    const standby = new Standby({
      url,
      maxConnections: 2,
      sessionSettings: {},
      mayOwnerServe,
      requireServed: () => {},
    });
    try {
      yield findingOf(name, await standby.examine(seen));
    } catch (error) {
      yield isUnfit(error)
        ? problem(
            check,
            `${name}: ${(error as Error).message}`,
            'Use the login of DATABASE_URL, without a pooler in transaction mode.',
          )
        : findingOf(name, 'away');
    } finally {
      await standby.close();
    }
  }
}

function findingOf(name: string, state: StandbyState): Finding {
  const sentence = `${name} ${sentences[state]}`;
  return state === 'current'
    ? ok('standby', sentence)
    : warning('standby', sentence, 'docs/replication.md describes reads from standbys.');
}
