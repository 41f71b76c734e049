// Two senders of webhooks, hostile receivers, kill -9 and a restore, for as long as you like; at the end the receivers prove by the
// sequences that they have each event.
//
//   node scripts/webhook-hazards.ts --seed 7 --seconds 120 --late 20000
//
// `--late`: the longest time in milliseconds that a receiver takes to respond; the senders wait for 15 seconds. The same seed makes the
// same plan again. Exits with 1 if an event is missing or out of order.
import { parseArgs } from 'node:util';
import { endureHazards } from '../test/webhooks/hazards.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    seconds: { type: 'string', default: '120' },
    late: { type: 'string', default: '20000' },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
say(`seed ${values.seed}`);
const { faults, ...counts } = await endureHazards({
  seed: Number(values.seed),
  seconds: Number(values.seconds),
  lateMillis: Number(values.late),
  say,
});
say(JSON.stringify(counts, undefined, 2));
for (const fault of faults.slice(0, 100)) say(fault);
say(faults.length === 0 ? 'Each event came, in order.' : `${faults.length} faults.`);
process.exit(faults.length === 0 ? 0 : 1);
