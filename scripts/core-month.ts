// Simulates a month of an institution with its core under faults and kill -9, and compares both books at the end.
//
//   node scripts/core-month.ts --seed 7 --days 30 --members 250 --day-seconds 12 --orders 400 --calm 5
//
// The same seed makes the same plan again. Exits with 1 if a cent, a transaction or an instruction differs.
import { parseArgs } from 'node:util';
import { simulateMonth } from '../test/support/month.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    days: { type: 'string', default: '30' },
    members: { type: 'string', default: '250' },
    'day-seconds': { type: 'string', default: '12' },
    orders: { type: 'string', default: '400' },
    calm: { type: 'string', default: '5' },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
say(`seed ${values.seed}`);
const { differences, ...month } = await simulateMonth({
  seed: Number(values.seed),
  days: Number(values.days),
  members: Number(values.members),
  daySeconds: Number(values['day-seconds']),
  ordersPerDay: Number(values.orders),
  calmSeconds: Number(values.calm),
  say,
});
say(JSON.stringify(month, undefined, 2));
for (const difference of differences.slice(0, 100)) say(difference);
say(differences.length === 0 ? 'Both books agree.' : `${differences.length} differences.`);
process.exit(differences.length === 0 ? 0 : 1);
