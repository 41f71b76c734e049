import { clientCredentials } from '../fill.ts';
import {
  compared,
  drive,
  type Figure,
  inTurns,
  plain,
  type Row,
  type Run,
  start,
  transferRate,
  warmUp,
} from '../measure.ts';

/*
 * If service, database and client share two cores, a second worker gets only the time that the first leaves: almost none
 * for reads, which are mostly work of the database and the client, and some for tokens, which the service signs.
 */
export const workers: Row = {
  name: 'workers',
  title: 'One and two workers (WORKERS): reads, tokens and transfers, 256 connections',
  async measure(given) {
    const bench = { ...given, pace: { ...given.pace, seconds: Math.min(3, given.pace.seconds) } };
    const connections = 256;
    const credentials = clientCredentials;
    const kinds = {
      'account detail': {
        unit: 'responses/s',
        // A rise of more than noise.
        atLeast: 1.1,
        rate: async (run: Run) => (await drive(run, { traffic: 'account', connections })).perSecond,
      },
      tokens: {
        unit: 'tokens/s',
        atLeast: 1.1,
        rate: async (run: Run) =>
          (await drive(run, { traffic: 'token', connections, credentials })).perSecond,
      },
      transfers: {
        unit: 'transfers/s',
        // Batches of two processes are smaller, and wait for each other's rows.
        atLeast: 0.8,
        rate: (run: Run) => transferRate(run, { connections }),
      },
    };
    const one = await start(bench, plain);
    const two = { ...one, server: await bench.stage.service(one.dataset, { WORKERS: '2' }) };
    for (const run of [one, two]) {
      await warmUp(run);
      await kinds.tokens.rate(run);
    }
    const figures: Figure[] = [];
    for (const [name, { unit, atLeast, rate }] of Object.entries(kinds)) {
      const rates = await inTurns(bench, {
        [`${name}, one worker`]: () => rate(one),
        [`${name}, two workers`]: () => rate(two),
      });
      const [theirs = [], ours = []] = Object.values(rates);
      figures.push(
        compared({ name: `${name}, two workers`, unit, ours, against: 'one worker', theirs, atLeast }),
      );
    }
    await bench.stage.stop(two.server);
    return figures;
  },
};
