import { compared, drive, inTurns, plain, type Row, transferRate, warmUp } from '../measure.ts';
import type { Server } from '../stage.ts';

export const workers: Row = {
  name: 'workers',
  title: 'One and two workers (WORKERS): reads and transfers, 256 connections',
  async measure(given) {
    const bench = { ...given, pace: { ...given.pace, seconds: Math.min(3, given.pace.seconds) } };
    const ground = await bench.stage.ground(plain);
    const servers = {
      one: await bench.stage.service(ground),
      two: await bench.stage.service(ground, { WORKERS: '2' }),
    };
    for (const server of Object.values(servers)) await warmUp(bench, server, ground);
    const reads = (server: Server) => async () =>
      (await drive(bench, server, ground, { traffic: 'account', connections: 256 })).perSecond;
    const transfers = (server: Server) => () => transferRate(bench, server, ground, { connections: 256 });
    const rates = await inTurns(bench, {
      'reads, one worker': reads(servers.one),
      'reads, two workers': reads(servers.two),
      'transfers, one worker': transfers(servers.one),
      'transfers, two workers': transfers(servers.two),
    });
    await bench.stage.stop(servers.two);
    return [
      compared(
        'account detail, two workers',
        'answers/s',
        rates['reads, two workers'],
        'one worker',
        rates['reads, one worker'],
        1,
      ),
      compared(
        'transfers, two workers',
        'transfers/s',
        rates['transfers, two workers'],
        'one worker',
        rates['transfers, one worker'],
        // Two processes' batches are smaller, and wait for one another's rows.
        0.8,
      ),
    ];
  },
};
