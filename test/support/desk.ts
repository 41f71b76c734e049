import { openDesk } from '../../src/app/context.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../src/storage/index.ts';
import type { TransferDesk } from '../../src/transfers/index.ts';
import type { TestService } from './service.ts';

/** A transfer desk beside the service's, like an operator's command has. */
export interface TestDesk extends AsyncDisposable {
  readonly desk: TransferDesk;
  readonly database: Database;
  readonly institutionId: InstitutionId;
  readonly clock: Clock;
}

/** On the service's clock, or on one ahead of it: then nothing becomes due by itself before. */
export async function deskOf(
  service: TestService,
  code = 'lakeside',
  clock = service.service.context.clock,
): Promise<TestDesk> {
  const { context } = service.service;
  const { database } = context;
  const institution = await database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined) throw new Error('no such institution');
  const { desk, close } = openDesk({ ...context, clock });
  return {
    desk,
    database,
    institutionId: institution.institutionId,
    clock,
    [Symbol.asyncDispose]: close,
  };
}

/** A clock that moves only when set. */
export function manualClock(start: string): {
  readonly clock: () => Date;
  set(to: string): void;
  advance(seconds: number): void;
} {
  let now = new Date(start);
  return {
    clock: () => now,
    set: (to) => {
      now = new Date(to);
    },
    advance: (seconds) => {
      now = new Date(now.getTime() + seconds * 1000);
    },
  };
}

/** Repeats until the result fits, for half a minute: background work takes an unknown short time. */
export async function eventually<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`it did not come: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
