import { clientCredentials } from '../fill.ts';
import { compared, drive, type Figure, inTurns, plain, type Row, transferRate, warmUp } from '../measure.ts';
import type { Server } from '../stage.ts';

/*
 * Where the service, the database and the client share two cores, a second worker has only the time that one leaves:
 * next to none with reads, whose larger part is the database's and the client's, and some with tokens, which are signed
 * in the service.
 */
export const workers: Row = {
  name: 'workers',
  title: 'One and two workers (WORKERS): reads, tokens and transfers, 256 connections',
  async measure(given) {
    const bench = { ...given, pace: { ...given.pace, seconds: Math.min(3, given.pace.seconds) } };
    const ground = await bench.stage.ground(plain);
    const connections = 256;
    const credentials = clientCredentials;
    const kinds = {
      'account detail': {
        unit: 'answers/s',
        // They are to rise, and by more than noise.
        atLeast: 1.1,
        rate: (server: Server) => rate(drive(bench, server, ground, { traffic: 'account', connections })),
      },
      tokens: {
        unit: 'tokens/s',
        atLeast: 1.1,
        rate: (server: Server) =>
          rate(drive(bench, server, ground, { traffic: 'token', connections, credentials })),
      },
      transfers: {
        unit: 'transfers/s',
        // Two processes' batches are smaller, and wait for one another's rows.
        atLeast: 0.8,
        rate: (server: Server) => transferRate(bench, server, ground, { connections }),
      },
    };
    const one = await bench.stage.service(ground);
    const two = await bench.stage.service(ground, { WORKERS: '2' });
    for (const server of [one, two]) {
      await warmUp(bench, server, ground);
      await kinds.tokens.rate(server);
    }
    const figures: Figure[] = [];
    for (const [what, kind] of Object.entries(kinds)) {
      const rates = await inTurns(bench, {
        [`${what}, one worker`]: () => kind.rate(one),
        [`${what}, two workers`]: () => kind.rate(two),
      });
      const [ofOne = [], ofTwo = []] = Object.values(rates);
      figures.push(compared(`${what}, two workers`, kind.unit, ofTwo, 'one worker', ofOne, kind.atLeast));
    }
    await bench.stage.stop(two);
    return figures;
  },
};

async function rate(driven: ReturnType<typeof drive>): Promise<number> {
  return (await driven).perSecond;
}
