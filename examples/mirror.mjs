// Mirrors the transfers of a bank into a SQLite file. Run it every night:
//
//   BANK_URL=… CLIENT_ID=… CLIENT_SECRET=… node mirror.mjs
//
// The client needs the scope events:read. A run that is killed at any moment is completed by the next one.
import { DatabaseSync } from 'node:sqlite';
import { clientCredentials, InvalidRequestError, Sharedraft } from '@sharedraft/client';

const {
  BANK_URL: baseUrl,
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
  MIRROR = 'mirror.db',
} = process.env;
const bank = new Sharedraft({ baseUrl, auth: clientCredentials({ clientId, clientSecret }), maxRetries: 8 });
const mirror = new DatabaseSync(MIRROR);
mirror.exec(`
  pragma busy_timeout = 5000;
  create table if not exists transfers (id text primary key, status text, amount text, from_account text, to_account text);
  create table if not exists progress (one integer primary key check (one = 1), position text)`);
const save = mirror.prepare('insert or replace into transfers values (?, ?, ?, ?, ?)');
const advance = mirror.prepare('insert or replace into progress values (1, ?)');
const position = () => mirror.prepare('select position from progress').get()?.position;

for (;;) {
  const { events, position: next } = await read(position());
  if (events.length === 0) break;
  // The position is stored with the transfers that it covers, or neither is.
  mirror.exec('begin immediate');
  for (const { transfer } of events) {
    if (transfer === undefined) continue;
    const { id, status, amount, fromAccountId, toAccountId } = transfer;
    save.run(id, status, amount, fromAccountId, toAccountId);
  }
  advance.run(next);
  mirror.exec('commit');
}
const { count } = mirror.prepare('select count(*) as count from transfers').get();
console.log(`${count} transfers`);

/** The next events. A position that the bank no longer has shows that it was put back to an earlier state: begin again. */
async function read(after) {
  try {
    return await bank.events.read({ after, limit: 200 });
  } catch (error) {
    if (!(error instanceof InvalidRequestError) || after === undefined) throw error;
    mirror.exec('begin immediate; delete from transfers; delete from progress; commit');
    return bank.events.read({ limit: 200 });
  }
}
