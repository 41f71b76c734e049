/*
 * The directory of cells, filled for 1,000 of them: the CPU of its PostgreSQL and the bytes for one publication of a process, for reading
 * the keys of all cells, for a look-up and for the question that validates a remembered one; the memory of a connection; and the size of
 * the keys at PUBLIC_URL. The figures of bench/on-paper.ts are from here.
 *
 *   node bench/directory.ts [CELLS] [TURNS]     default 1000 cells, 2000 turns of each kind
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { CellDirectory, type OwnCell, type Publication } from '../src/cell-directory/index.ts';
import { ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { embeddedLogin, type InstitutionId, migrate } from '../src/storage/index.ts';
import { asSuperuser } from '../test/support/postgres.ts';
import { cpuSeconds } from './meters.ts';

const [cells = 1_000, turns = 2_000] = process.argv.slice(2).map(Number);
/** As in bench/on-paper.ts. */
const perCell = { institutions: 10, hosts: 2, clients: 10, providers: 2, keys: 2 };
const numbersPerCell = 100;
const publicUrl = 'https://bank.example';
const fingerprint = Buffer.alloc(32, 7);

const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-directory-'));
await chmod(folder, 0o755);
const postgres = await ownEmbeddedPostgres({ dataDir: path.join(folder, 'data'), log: () => {} });
const owner = { ...postgres.connection, database: 'cell_directory' };
const moved = { bytes: 0 };
const relay = createServer((client) => {
  const server = connect(path.join(owner.host, `.s.PGSQL.${owner.port}`));
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('data', (chunk) => {
      moved.bytes += chunk.length;
      to.write(chunk);
    });
    from.on('close', () => to.destroy());
    from.on('error', () => {});
  }
}).listen(0, '127.0.0.1');

try {
  await asSuperuser(postgres.connection, (client) => client.query('create database cell_directory'));
  await migrate(owner, { schema: 'directory', login: embeddedLogin });
  await fill();
  await measure();
} finally {
  relay.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

/** All cells but the first: it publishes by itself. */
async function fill(): Promise<void> {
  await asSuperuser(owner, async (client) => {
    await client.query(
      `insert into directory_cells (name, address, first_number, last_number, program, schema_version, public_url, fingerprint, changed_at)
       select 'cell-' || n, 'http://10.0.0.7:8080', n * $2 + 1, n * $2 + $2, '1.0.0', 7, $3, $4, now() from generate_series(0, $1 - 1) n`,
      [cells, numbersPerCell, publicUrl, fingerprint],
    );
    const others = `generate_series(1, ${cells - 1}) n, generate_series(1, ${perCell.institutions}) i`;
    const number = `n * ${numbersPerCell} + i`;
    await client.query(
      `insert into directory_institutions select ${number}, 'bank-' || (${number}), 'cell-' || n, now() from ${others}`,
    );
    for (const [table, columns, rows] of [
      ['hosts', `'h' || m || '.bank-' || (${number}) || '.example', ${number}, now()`, perCell.hosts],
      ['clients', `'client-' || m || '-of-bank-' || (${number}), ${number}, now()`, perCell.clients],
      [
        'providers',
        `'https://p' || m || '.bank-' || (${number}) || '.example', 'bank', ${number}, now()`,
        perCell.providers,
      ],
    ] as const)
      await client.query(
        `insert into directory_${table} select ${columns} from ${others}, generate_series(1, ${rows}) m`,
      );
    await client.query(
      `insert into directory_keys
       select kid, 'cell-' || n, jsonb_build_object('kid', kid, 'alg', 'ES256', 'use', 'sig', 'kty', 'EC', 'crv', 'P-256', 'x', x, 'y', x),
              now(), now() + interval '3 days'
       from generate_series(1, ${cells - 1}) n, generate_series(1, ${perCell.keys}) k,
            lateral (select left(md5(n || '-' || k) || md5(k || '-' || n), 43) as kid, left(repeat(md5(n || 'x' || k), 2), 43) as x) as made`,
    );
    await client.query('delete from directory_changes');
    await client.query('vacuum analyze');
  });
}

function publicationOf(first: number): Publication {
  const institutions = Array.from({ length: perCell.institutions }, (_, index) => ({
    institutionId: (first + index) as InstitutionId,
    code: `bank-${first + index}`,
    moves: 0,
  }));
  const each = <Name>(count: number, of: (code: string, index: number) => Name) =>
    institutions.flatMap(({ institutionId, code }) =>
      Array.from({ length: count }, (_, index) => ({ institutionId, ...of(code, index) })),
    );
  return {
    institutions,
    hosts: each(perCell.hosts, (code, index) => ({ host: `h${index}.${code}.example` })),
    clients: each(perCell.clients, (code, index) => ({ clientId: `client-${index}-of-${code}` })),
    providers: each(perCell.providers, (code, index) => ({
      issuer: `https://p${index}.${code}.example`,
      audience: 'bank',
    })),
    keys: Array.from({ length: perCell.keys }, (_, index) => keyOf(`own-key-${index}`.padEnd(43, '-'))),
  };
}

function keyOf(kid: string) {
  const point = { x: 'x'.repeat(43), y: 'y'.repeat(43) };
  return { kid, publicJwk: { kid, alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256', ...point } };
}

async function measure(): Promise<void> {
  const address = relay.address();
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.');
  let now = Date.now();
  const directory = new CellDirectory({
    url: `postgresql://${embeddedLogin}@127.0.0.1:${address.port}/cell_directory`,
    clock: () => new Date(now),
    actor: 'cell-0',
  });
  const own: OwnCell = {
    ...{ name: 'cell-0', program: '1.0.0', schemaVersion: 7, publicUrl, fingerprint },
    ...{ firstNumber: 1, lastNumber: numbersPerCell },
  };
  const publication = publicationOf(1);
  const publish = () => directory.publish(own, publication);
  const pid = Number(
    (await readFile(path.join(folder, 'data/postgres/postmaster.pid'), 'utf8')).split('\n')[0],
  );
  const used = async () => (await cpuSeconds(pid, true)) ?? Number.NaN;
  const line = async (name: string, times: number, work: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; turn < 20; turn += 1) await work(turn);
    const [before, bytes] = [await used(), moved.bytes];
    for (let turn = 0; turn < times; turn += 1) await work(turn);
    const micros = (((await used()) - before) * 1e6) / times;
    console.log(
      `${name.padEnd(44)} ${micros.toFixed(0).padStart(6)} µs   ${((moved.bytes - bytes) / times).toFixed(0).padStart(8)} bytes`,
    );
  };
  try {
    const { keysOfOthers } = await publish();
    const keys = JSON.stringify({ keys: keysOfOthers.map(({ publicJwk }) => publicJwk) }).length;
    console.log(
      `${cells} cells, load ${loadavg()[0]?.toFixed(1)}; CPU of the directory's PostgreSQL, bytes of both directions`,
    );
    await line('a publication that changes nothing', turns, publish);
    await line('a publication that reads all keys', Math.ceil(turns / 10), () => {
      // A clock that goes backward makes each reading old.
      now -= 1;
      return publish();
    });
    await line('a look-up of another name', turns, (turn) =>
      directory.find({
        kind: 'client',
        clientId: `client-1-of-bank-${numbersPerCell * (1 + (turn % (cells - 1))) + 1 + (turn % perCell.institutions)}`,
      }),
    );
    await line('the question whether a look-up still holds', turns, () =>
      directory.find({ kind: 'institution', institutionId: (numbersPerCell + 1) as InstitutionId }),
    );
    const [size] = await asSuperuser(owner, async (client) => {
      const { rows } = await client.query<{ bytes: string }>(
        `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c where relname ~ '^directory_' and relkind = 'r'
         and relname <> 'directory_entries'`,
      );
      return rows;
    });
    console.log(`the tables without the audit: ${(Number(size?.bytes) / 1e6).toFixed(1)} MB`);
    console.log(`the keys at PUBLIC_URL: ${(keys / 1e3).toFixed(0)} kB`);
    console.log(`memory of a connection: ${((await privateBytes()) / 1e6).toFixed(1)} MB`);
  } finally {
    await directory.close();
  }
}

/** Of the largest server process of the service's login, without what it shares. */
async function privateBytes(): Promise<number> {
  const pids = await asSuperuser(owner, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where usename = $1',
      [embeddedLogin],
    );
    return rows.map(({ pid }) => pid);
  });
  const all = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Anonymous: +(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
    }),
  );
  return Math.max(0, ...all);
}
