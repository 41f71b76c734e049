import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { appendAudit } from '../../../events/index.ts';
import { advanceClock } from '../../../institutions/index.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const mostAheadSeconds = 315_576_000n;

/** A running service reads the offset of the clock twice a second. */
const noticedWithinMillis = 1_000;

export function demoCommands(): Command[] {
  return [clock()];
}

function clock(): Command {
  return onInstitution(
    new Command('clock')
      .description(
        'show the business time of a demo institution, or move it forward: due dates, limits, cut-offs, codes, locks',
      )
      .argument('[by]', 'a step forward, like +90s, +30m, +12h or +1d', readStep),
    async (run, _options: InstitutionOptions, seconds: bigint | undefined) => {
      const { clock, businessTime } = run.context;
      const { institutionId, code, demo, clockAheadSeconds: before } = run.institution;
      if (!demo) throw new CommandError(`${code} is not a demo institution, so its clock cannot move.`);
      let after = before;
      if (seconds !== undefined) {
        if (before + seconds > mostAheadSeconds) {
          throw new CommandError(
            'The clock can be at most ten years ahead. To start over, delete the data folder of the demo.',
          );
        }
        after = await moveClock(run, seconds);
        // Running services read the offset within a second; the next order then has the new time.
        await sleep(noticedWithinMillis);
      }
      const own = businessTime(institutionId, clock()).getTime() + Number(after - before) * 1000;
      say(`${code}: it is ${new Date(own).toISOString()}, ${after} seconds ahead of the real time.`);
    },
  );
}

function moveClock({ context, institutionId, origin }: InstitutionRun, seconds: bigint): Promise<bigint> {
  return context.database.transaction(institutionId, async (tx) => {
    const moved = await advanceClock(tx, seconds);
    const changes = {
      before: { clockAheadSeconds: moved - seconds },
      after: { clockAheadSeconds: moved },
    };
    const entry = { action: 'institution.clock_moved', outcome: 'succeeded', origin, ...changes } as const;
    await appendAudit(tx, entry, context.clock());
    return moved;
  });
}

function readStep(text: string): bigint {
  const [, digits, unit] = /^\+([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    throw new InvalidArgumentError('Must be a step forward like +90s, +30m, +12h or +1d.');
  }
  return BigInt(digits) * BigInt(unitSeconds[unit as keyof typeof unitSeconds]);
}
