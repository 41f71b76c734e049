/*
 * The cost of an import, relative to COPY of the same files:
 *
 *   node bench/import.ts [MEMBERS ...]     default 100000
 *
 * Generates an extract of invented members, seeded. COPY loads its files into plain, logged tables with their natural
 * primary keys and no other constraint or index, in one process. The import is the command, in a process of its own, on the
 * same server: into an empty database; the same files again; with one person in a hundred renamed. Peak memory is the
 * importing process's largest resident set, from /proc; the log is the server's write-ahead log (WAL).
 */
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { embeddedLogin, migrate, type SocketConnection } from '../src/storage/index.ts';
import { mulberry32 } from '../test/support/random.ts';
import { environmentOf } from './fill.ts';
import { count, Stage } from './stage.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const seed = 20_260_302;

interface Person {
  readonly id: string;
  readonly joint: boolean;
  readonly renamed: boolean;
}

/** One file: its header, the lines of one member, and the columns and key of its plain table. */
interface File {
  readonly name: string;
  readonly header: string;
  readonly table: string;
  readonly linesOf: (member: number, persons: readonly Person[]) => string[];
}

const first = ['Ada', 'Bea', 'Cleo', 'Dora', 'Emil', 'Finn', 'Gus', 'Hana', 'Ivo', 'Juno'];
const last = [
  'Amberly',
  'Brook',
  'Crane',
  'Dunmore',
  'Ember',
  'Fallow',
  'Glade',
  'Hollis',
  'Inkwell',
  'Juniper',
];

const accountsOf = (member: number) => {
  const balance = `${(member * 7_919) % 90_000}.${String(member % 100).padStart(2, '0')}`;
  const kinds = [
    `savings,SAVINGS,,${balance},,,,`,
    `checking,CHECKING,Everyday Checking,${balance},250.00,,,`,
  ];
  if (member % 10 < 3) kinds.push(`loan,CONSUMER_LOAN,,${balance},,,12.50,`);
  return kinds.map((kind, index) => {
    const [suffix, type, description, amount, overdraft, credit, interest, fees] = kind.split(',');
    const id = `a-${member}-${suffix}`;
    const row = `${id},${member},${member}-${index}0,${type},${description},USD,${amount},open,no,${overdraft},${credit},${interest},${fees}`;
    return { id, row };
  });
};

const files: readonly File[] = [
  {
    name: 'persons.csv',
    header: 'person_id,first_name,last_name,email,phone_number,phone_type,birth_date',
    table:
      'person_id text primary key, first_name text, last_name text, email text, phone_number text, phone_type text, birth_date date',
    linesOf: (member, persons) =>
      persons.map(({ id, joint, renamed }) => {
        const name = `${first[member % 10]},${renamed ? 'Renamed' : last[(member >> 3) % 10]}${member % 997}`;
        const phone = joint ? ',' : `+1202555${String(member % 10_000).padStart(4, '0')},MOBILE`;
        return `${id},${name},${id}@example.test,${phone},${1940 + (member % 65)}-0${1 + (member % 9)}-1${member % 10}`;
      }),
  },
  {
    name: 'members.csv',
    header: 'customer_id,member_number,member_type',
    table: 'customer_id text, member_number text primary key, member_type text',
    linesOf: (member) => [`c-${member},${member},RETAIL`],
  },
  {
    name: 'member-persons.csv',
    header: 'member_number,person_id,role',
    table: 'member_number text, person_id text, role text, primary key (member_number, person_id)',
    linesOf: (member, persons) =>
      persons.map(({ id, joint }) => `${member},${id},${joint ? 'JOINT' : 'PRIMARY'}`),
  },
  {
    name: 'accounts.csv',
    header:
      'account_id,member_number,account_number,type,description,currency,balance,status,delinquent,overdraft_limit,credit_limit,accrued_interest,fees_due',
    table:
      'account_id text primary key, member_number text, account_number text, type text, description text, currency text, balance numeric, status text, delinquent boolean, overdraft_limit numeric, credit_limit numeric, accrued_interest numeric, fees_due numeric',
    linesOf: (member) => accountsOf(member).map(({ row }) => row),
  },
  {
    name: 'holders.csv',
    header: 'account_id,person_id,role,may_pay',
    table: 'account_id text, person_id text, role text, may_pay boolean, primary key (account_id, person_id)',
    linesOf: (member, persons) =>
      accountsOf(member).flatMap(({ id: account }) =>
        persons.map(({ id, joint }) => `${account},${id},${joint ? 'JOINT' : 'PRIMARY'},yes`),
      ),
  },
];

/** One member in five has a joint holder; with `renamed`, every hundredth person has another last name. */
async function generate(folder: string, members: number, renamed = false): Promise<number> {
  await mkdir(folder, { recursive: true });
  let rows = 0;
  async function* lines(file: File) {
    const random = mulberry32(seed);
    let chunk = `${file.header}\n`;
    for (let member = 100_001; member <= 100_000 + members; member += 1) {
      const person = { id: `p-${member}`, joint: false, renamed: renamed && member % 100 === 0 };
      const joint = { id: `p-${member}-j`, joint: true, renamed: false };
      for (const line of file.linesOf(member, random(5) === 0 ? [person, joint] : [person])) {
        chunk += `${line}\n`;
        rows += 1;
      }
      if (chunk.length > 65_536) {
        yield chunk;
        chunk = '';
      }
    }
    yield chunk;
  }
  for (const file of files) {
    await pipeline(Readable.from(lines(file)), createWriteStream(path.join(folder, file.name)));
  }
  const institution = `code,name,currency,time_zone,enrollment,opening_deposit,password_min_length,demo\nbench,Bench Credit Union,USD,America/New_York,closed,,15,no\n`;
  await pipeline(Readable.from([institution]), createWriteStream(path.join(folder, 'institution.csv')));
  return rows;
}

async function copy(connection: SocketConnection, folder: string): Promise<number> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    for (const { name, table } of files) await client.query(`create table "${name}" (${table})`);
    const started = performance.now();
    for (const { name } of files) {
      const into = client.query(copyFrom(`copy "${name}" from stdin with (format csv, header)`));
      await pipeline(createReadStream(path.join(folder, name)), into);
    }
    return (performance.now() - started) / 1_000;
  } finally {
    await client.end();
  }
}

interface Cost {
  readonly seconds: number;
  readonly peakMegabytes: number;
  readonly logMegabytes: number;
}

async function importInto(stage: Stage, connection: SocketConnection, folder: string): Promise<Cost> {
  const position = async () => {
    const [row] = await stage.sql<{ at: string }>('postgres', 'select pg_current_wal_lsn() as at');
    return row?.at as string;
  };
  const before = await position();
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'import', folder], {
    env: { PATH: process.env.PATH, ...environmentOf(connection) },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors = `${errors}${data}`.slice(-4_000);
  });
  let peakKilobytes = 0;
  const meter = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakKilobytes = Math.max(peakKilobytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }, 50);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(meter);
  const seconds = (performance.now() - started) / 1_000;
  if (code !== 0) throw new Error(`the import failed:\n${errors}`);
  const [log] = await stage.sql<{ bytes: string }>(
    'postgres',
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '${before}')::text as bytes`,
  );
  return { seconds, peakMegabytes: peakKilobytes / 1024, logMegabytes: Number(log?.bytes) / 1_048_576 };
}

const sizes = process.argv.slice(2).map(Number);
await using stage = await Stage.open((text) => console.log(text));
for (const members of sizes.length > 0 ? sizes : [100_000]) {
  const folder = path.join(stage.folder, `extract-${members}`);
  const rows = await generate(folder, members);
  await generate(`${folder}-renamed`, members, true);
  console.log(`\n${count(members)} members, ${count(rows)} rows`);
  const plain = await copy(await stage.emptyDatabase(`plain_${members}`), folder);
  console.log(`COPY             ${plain.toFixed(1).padStart(8)} s`);
  const connection = await stage.emptyDatabase(`bank_${members}`);
  await migrate(connection, { login: embeddedLogin });
  const steps = { first: folder, unchanged: folder, 'one in 100': `${folder}-renamed` };
  for (const [name, from] of Object.entries(steps)) {
    const { seconds, peakMegabytes, logMegabytes } = await importInto(stage, connection, from);
    console.log(
      `${name.padEnd(16)} ${seconds.toFixed(1).padStart(8)} s, ${(seconds / plain).toFixed(1).padStart(5)} × COPY, ` +
        `${peakMegabytes.toFixed(0).padStart(6)} MB resident at most, ${logMegabytes.toFixed(1).padStart(8)} MB of log`,
    );
  }
}
