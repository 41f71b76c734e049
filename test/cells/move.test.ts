import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { compareOnce, publishAtStart } from '../../src/app/cells/publishing.ts';
import { examine } from '../../src/app/doctor/examine.ts';
import type { CellDirectory } from '../../src/cell-directory/index.ts';
import {
  confirmMove,
  type MoveDeps,
  MoveRefusedError,
  type MoveStep,
  moveInstitution,
  moveSteps,
  openSide,
  type Side,
  SideAwayError,
  setCell,
  undoMove,
} from '../../src/cells/index.ts';
import { listTables, tablesOfCopy, thatMove } from '../../src/cells/tables.ts';
import { chooseInstitution } from '../../src/cli/chosen-institution.ts';
import { CommandError } from '../../src/cli/command-error.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { type Institution, listInstitutions } from '../../src/institutions/index.ts';
import { changeInstitution } from '../../src/operators/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { follow, harborApp, lakesideApp, pay, RetryingClient } from '../support/cell-clients.ts';
import { between, environmentOfMove, startCells, type TestCell } from '../support/cells.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import { fillInstitution } from '../support/filled-institution.ts';
import { furnish, useAll } from '../support/moved-institution.ts';
import { eventually } from '../support/processes.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { startReceiver } from '../webhooks/receiver.ts';

/* Institutions move between two clusters under load, and the command is killed at every step. */

let cells: Awaited<ReturnType<typeof startCells>>;
let east: TestCell;
let west: TestCell;
before(async () => {
  cells = await startCells();
  [east, west] = cells;
});
after(() => cells[Symbol.asyncDispose]());

/** Runs a move up to a step, and cuts its connections there, as the end of its process does. */
async function killedAt(
  step: string,
  source: TestCell,
  target: TestCell,
  code = 'lakeside',
  change: (deps: MoveDeps) => MoveDeps = (deps) => deps,
): Promise<void> {
  await between(source, target, async (given) => {
    const deps = change(given);
    const never = new Promise<never>(() => {});
    const reached = new Promise<void>((resolve, reject) => {
      const onStep = async (now: string) => {
        if (now !== step) return;
        resolve();
        await never;
      };
      moveInstitution({ ...deps, onStep }, code, target.name).catch(reject);
    });
    await reached;
  });
}

const move = (source: TestCell, target: TestCell) =>
  between(source, target, (deps) => moveInstitution(deps, 'lakeside', target.name));

/** A command in a process of its own; by default the move of lakeside. */
function command(
  source: TestCell,
  target: TestCell,
  words: readonly string[] = ['institution', 'move', 'lakeside', '--to', target.name],
  settings: Readonly<Record<string, string>> = {},
) {
  return spawn(process.execPath, ['src/main.ts', ...words], {
    env: { ...environmentOfMove(source, target), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The exit code of a command and all that it said. */
async function ended(
  child: ReturnType<typeof command>,
): Promise<{ readonly code: number; readonly said: string }> {
  const [[code], ...said] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, said: said.join('') };
}

async function isServing({ service: { context } }: TestCell): Promise<boolean> {
  for (const { institutionId } of await context.database.directory(listInstitutions)) {
    const refusal = await context.database.read(institutionId, async () => undefined).catch((error) => error);
    if (refusal !== undefined) return false;
  }
  return true;
}

async function findings(cell: TestCell): Promise<string[]> {
  const { context } = cell.service;
  const found: string[] = [];
  // A process hears of the end of a move within a second, behind a crash of its server a little later.
  await eventually(`${cell.name} serves`, () => isServing(cell));
  for (const { institutionId, code } of await context.database.directory(listInstitutions)) {
    await reconcile(context.database, institutionId, {
      at: context.businessTime(institutionId, context.clock()),
      onFinding: ({ check, row, detail }) => found.push(`${code} ${check} ${row}: ${detail}`),
    });
  }
  return found;
}

const statusOf = async (cell: TestCell, token: string) =>
  send(cell.address, 'GET', paths.accounts, { headers: { authorization: `Bearer ${token}` } });

const heldForReview = {
  ...{
    id: 'held-for-review',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1002-checking',
    amount: 1000.01,
  },
};

test('an institution moves under load while its command is killed at every step: each order stands once, and no event is skipped or repeated', {
  timeout: 600_000,
}, async () => {
  let stopped = false;
  const isStopped = () => stopped;
  const [member, backend, neighbor] = [cells, cells, cells].map((both) => new RetryingClient(both)) as [
    ...[RetryingClient, RetryingClient, RetryingClient],
  ];
  const password = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
  const login = await member.logIn({
    ...{ ...password, ...lakesideApp },
    scope: 'account:read transfer:read transfer:write offline_access',
  });
  await backend.logIn({ grant_type: 'client_credentials', ...lakesideApp });
  await neighbor.logIn({
    ...{ ...password, password: 'harbor-member-password', ...harborApp },
  });
  const bearer = member.token;
  await changeInstitution(east.service.context, 1 as InstitutionId, {
    settings: { host: 'lakeside.example' },
    origin: { ...ownOrigin(), operator: { user: 'tester', host: 'test' } },
  });
  const endpoint = await backend.request('POST', '/digitalbanking/db-webhooks/v1/endpoints', {
    url: 'https://hooks.example.test/events',
  });
  assert.equal(endpoint.status, 201, endpoint.text);

  let decided = 0;
  const paying = Promise.all([0, 1].map(() => pay(member, isStopped, () => (decided += 1))));
  let written = Number.POSITIVE_INFINITY;
  const reading = follow(backend, (read) => read >= written);
  const beside = pay(neighbor, isStopped);
  const decidedAgain = async () => {
    const seen = decided;
    await eventually('orders are decided', async () => decided > seen + 2);
  };
  await decidedAgain();

  let held: Answer | undefined;
  for (const step of moveSteps) {
    // It posts by itself after half a minute.
    if (step === 'close') held = await member.request('POST', paths.transfers, heldForReview);
    await killedAt(step, east, west);
    // Before the pause the institution is open, and so it is once the other cell has it.
    if (['reconcile_here', 'fence', 'publish', 'arrive', 'copy', 'tidy', 'reconcile_there'].includes(step))
      await decidedAgain();
  }
  await move(east, west);
  await decidedAgain();

  const left = `select count(*)::integer as times from audit_entries where action = 'institution.left' and subject = 'lakeside'`;
  assert.deepEqual(
    await east.rows(left),
    [{ times: 1 }],
    'a command that was cut off behind it leaves the entry',
  );

  assert.equal((await statusOf(east, bearer)).status, 421, 'a token of an institution that has moved');
  assert.equal((await statusOf(west, bearer)).status, 200, 'the same token at its new cell');
  const metadata = (cell: TestCell) =>
    send(cell.address, 'GET', '/.well-known/openid-configuration', { headers: { host: 'lakeside.example' } });
  const [former, present] = [await metadata(east), await metadata(west)];
  assert.equal(former.body.code, 'institution_elsewhere', former.text);
  assert.equal(present.body.issuer, 'https://lakeside.example', present.text);
  const unknown = await statusOf(west, neighbor.token);
  assert.equal(unknown.status, 401, 'a token of an institution that does not exist there');
  const refreshed = await send(west.address, 'POST', paths.token, {
    body: { grant_type: 'refresh_token', ...lakesideApp, refresh_token: login.body.refresh_token },
  });
  assert.equal(refreshed.status, 200, refreshed.text);
  const repeated = await member.request('POST', paths.transfers, heldForReview);
  assert.equal(repeated.body.createdAt, held?.body.createdAt, 'an id is used up at both cells');
  // It is cancelled, or posts by itself, where the institution is now.
  const cancelled = await member.request('POST', `${paths.transfers}/held-for-review/cancel`);
  assert.ok([200, 409].includes(cancelled.status), cancelled.text);
  const [ended] = await west.rows<{ status: string; pending: number }>(
    `select status, (select count(*)::integer from pending_transfers) as pending from transfers
     where transfer_id = 'held-for-review'`,
  );
  assert.deepEqual(ended, { status: cancelled.status === 200 ? 'FAILED' : 'COMPLETED', pending: 0 });
  const listed = await backend.request('GET', '/digitalbanking/db-webhooks/v1/endpoints');
  assert.deepEqual(
    listed.body.map(({ endpointId }: { endpointId: string }) => endpointId),
    [endpoint.body.endpointId],
  );

  await between(east, west, (deps) => confirmMove(deps, 'lakeside', 'west'));
  await assert.rejects(east.rows(`update institutions set name = 'Late' where institution_id = 1`), {
    code: 'SD151',
  });
  const late = { action: 'login', outcome: 'refused', reason: 'late', origin: ownOrigin() } as const;
  east.service.context.auth.audit.note(1 as InstitutionId, late);
  await east.service.context.auth.audit.settle();
  const [kept] = await east.rows<{ own: number; apart: number }>(
    `select count(*) filter (where institution_id = 1)::integer as own,
            count(*) filter (where institution_id = 0 and reason = 'late')::integer as apart from audit_entries`,
  );
  assert.deepEqual(kept, { own: 0, apart: 1 }, 'a late entry stands in the audit of the cell itself');

  // Back, with a move that lets go and is undone, and then with one that another process goes on with.
  await killedAt('open', west, east);
  await between(west, east, (deps) => undoMove(deps, 'lakeside', 'east'));
  await decidedAgain();
  const killed = command(west, east);
  const end = once(killed, 'close');
  for await (const line of killed.stdout) if (String(line).includes('Closing')) killed.kill('SIGKILL');
  assert.deepEqual(await end, [null, 'SIGKILL']);
  const again = command(west, east);
  const said = await text(again.stdout);
  assert.match(said, /"lakeside" is open at the cell "east": \d+ rows, closed for \d+\.\d s/, said);
  await decidedAgain();
  stopped = true;
  const orders = (await paying).flatMap((each) => [...each]);
  const others = await beside;

  const transfers = await east.rows<{ id: string; status: string; times: number }>(
    `select transfer_id as id, status, count(*)::integer as times from transfers where institution_id = 1 group by 1, 2`,
  );
  const stored = new Map(transfers.map(({ id, status, times }) => [id, `${status} ${times}`]));
  for (const [id, status] of orders)
    assert.equal(stored.get(id), status === 422 ? 'FAILED 1' : 'COMPLETED 1', `order ${id}`);
  [{ events: written }] = (await east.rows<{ events: number }>(
    'select count(*)::integer as events from outbox where institution_id = 1',
  )) as [{ events: number }];
  const events = await reading;
  assert.equal(events.length, written, 'the reader saw each event');
  assert.equal(new Set(events.map(({ eventId }) => eventId)).size, events.length, 'and none twice');
  const told = new Set(events.map(({ transfer }) => transfer?.id));
  assert.deepEqual(
    orders.map(([id]) => id).filter((id) => !told.has(id)),
    [],
  );
  assert.ok(others.size > 20);
  const noticed = neighbor.retried.filter((status) => status !== 429);
  assert.deepEqual(noticed, [], 'the other institution noticed nothing');
  assert.deepEqual(await findings(east), []);
  assert.deepEqual(await findings(west), []);
  for (const cell of cells) {
    assert.deepEqual(await cell.rows('select slot_name from pg_replication_slots'), []);
    assert.deepEqual(await cell.rows('select subname from pg_subscription'), []);
    // Workers in the background learn of a move half a second later.
    const unexpected = cell.logged.filter(
      (line) =>
        !/institution_(moving|elsewhere)|^(audit_anchored|event_partitions_made|directory_published) /.test(
          line,
        ),
    );
    assert.deepEqual(unexpected, []);
  }
});

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((cause) => cause);
  assert.ok(error instanceof MoveRefusedError, String((error as Error)?.stack ?? 'it was not refused'));
  return error.message;
}

test('a move that cannot end well is refused before it changes anything', async () => {
  const asked = (change: (deps: MoveDeps) => Partial<MoveDeps>, code = 'harbor', to = 'west') =>
    between(east, west, (deps) => refusal(moveInstitution({ ...deps, ...change(deps) }, code, to)));
  const same = () => ({});
  assert.match(await asked(same, 'harbor', 'east'), /is in the cell "east"/);
  assert.match(await asked(same, 'harbor', 'north'), /is the cell "west", not "north"/);
  assert.match(await asked(same, 'nobody'), /"nobody" does not exist/);
  assert.match(
    await asked(() => ({ secrets: { current: randomBytes(32), other: undefined } })),
    /the same SECRET_KEY/,
  );
  await west.rows(`update schema_functions set checksum = checksum || 'x' where name = 'check_fence.sql'`);
  assert.match(await asked(same), /the same version first/);
  await west.rows(`update schema_functions set checksum = left(checksum, 64)`);
  await west.rows('update cell set set_at = now()');
  assert.match(await asked(same), /Try again in/);
  await west.rows(`update cell set set_at = now() - interval '1 hour', first_number = 900`);
  assert.match(await asked(same), /numbers in common: 1-999 here, 900-1999 there/);
  await west.rows('update cell set first_number = 1001');
  const weak = await openSide(east.url);
  assert.match(await asked(() => ({ source: weak })), /needs more rights for a move/);
  await weak.close();
  await west.rows(`insert into institutions (code, name, currency, time_zone, enrollment, created_at)
    values ('harbor', 'Another Harbor', 'USD', 'UTC', 'closed', now())`);
  assert.match(await asked(same), /another institution with the code "harbor"/);
  await east.rows(`update institutions set host = 'harbor.example' where code = 'harbor'`);
  await west.rows(`update institutions set code = 'marina', host = 'harbor.example' where code = 'harbor'`);
  assert.match(await asked(same), /Another institution of the target has: harbor\.example \(institutions\)/);
  await west.rows(`delete from institutions where code = 'marina'`);

  const [most] = await east.rows<{ slots: number }>(
    `select current_setting('max_replication_slots')::integer as slots`,
  );
  const others = `generate_series(1, ${(most?.slots ?? 0) - 1}) n`;
  await east.rows(`select pg_create_physical_replication_slot('another_' || n) from ${others}`);
  assert.match(
    await asked(same),
    /this cell has 1 left of max_replication_slots, and a move needs 2: raise it/,
  );
  await east.rows(`select pg_drop_replication_slot('another_' || n) from ${others}`);

  const owe = (minor: number) =>
    east.rows(`set session_replication_role = 'replica';
      update balances set posted = posted + ${minor} where institution_id = 2 and account_key = (select min(account_key) from balances where institution_id = 2)`);
  await owe(1);
  assert.match(await asked(same), /^reconcile finds faults of "harbor" here, which would move along/);
  await owe(-1);

  assert.match(
    await asked(({ source }) => ({ source: behind(source), standbyPatienceMillis: 0 })),
    /^The standby "db2" of this cell is behind, and a fail-over could open "harbor" here again\./,
  );
  const [still] = await east.rows(`select served from institutions where code = 'harbor'`);
  assert.deepEqual(still, { served: 'here' });
  await killedAt('close', east, west, 'harbor');
  await assert.rejects(west.rows(`update institutions set name = 'Early' where institution_id = 2`), {
    code: 'SD150',
  });
  // The server of the other cell may commit for a command that was killed.
  for (const side of ['source', 'target'] as const)
    await between(east, west, async ({ [side]: { db } }) => {
      await db.query({ name: '', text: 'select pg_advisory_lock(7305106, 2)' });
      assert.match(await asked(() => ({ lockPatienceMillis: 300 })), /Another command is moving "harbor"/);
    });
  await between(east, west, (deps) => undoMove(deps, 'harbor', 'west'));
  assert.match(
    await between(east, west, (deps) => refusal(confirmMove(deps, 'harbor', 'west'))),
    /keeps no copy of "harbor"/,
  );
  const states = await Promise.all(
    cells.map((cell) =>
      cell.rows(`select served, other_cell as other from institutions where code = 'harbor'`),
    ),
  );
  assert.deepEqual(states, [[{ served: 'here', other: null }], [{ served: 'gone', other: 'east' }]]);

  const set = (cell: TestCell, firstNumber: number, lastNumber: number) =>
    between(cell, cell, ({ source, clock, origin }) =>
      refusal(setCell(source, { name: cell.name, firstNumber, lastNumber }, { clock, origin })),
    );
  assert.match(await set(east, 2, 999), /"lakeside" was created here with the number 1/);
  assert.match(await set(west, 1, 1999), /came from another cell with the number [12]/);
});

test("an operator's command names the cell that serves its institution, and goes on without a directory", async () => {
  const asked = async (cell: TestCell, code: string, options = {}) => {
    const error: unknown = await chooseInstitution(cell.service.context, code, options).catch(
      (cause) => cause,
    );
    return error instanceof CommandError ? error.message : (error as Institution).code;
  };
  const runThere = `The cell "east" at ${east.address} serves it, as the directory says. Run the command there.`;
  const gone = `"harbor" has left this cell. ${runThere}`;
  assert.equal(await asked(east, 'harbor'), 'harbor');
  assert.equal(await asked(west, 'nobody'), 'The institution "nobody" does not exist.');
  const { directory } = east;
  await directory.rows(`insert into directory_institutions (institution_id, code, cell, placed_at)
    values (950, 'meadow', 'east', now())`);
  assert.equal(await asked(west, 'meadow'), `The institution "meadow" is not in this cell. ${runThere}`);
  await directory.rows('delete from directory_institutions where institution_id = 950');
  assert.equal(await asked(west, 'harbor', { orCopy: true }), gone, 'it has no copy');
  const { code, said } = await ended(command(west, east, ['client', 'list', '--institution', 'harbor']));
  assert.equal(code, 1, said);
  assert.ok(said.includes(gone), said);

  const state = (cell: TestCell, row: string) =>
    cell.rows(
      `set session_replication_role = 'replica'; update institutions set ${row} where code = 'harbor'`,
    );
  await state(west, `served = 'left'`);
  assert.equal(await asked(west, 'harbor'), gone);
  assert.equal(await asked(west, 'harbor', { orCopy: true }), 'harbor');
  await state(west, `served = 'arriving'`);
  assert.match(await asked(west, 'harbor'), /^"harbor" is on its way here from the cell "east"\./);
  await state(west, `served = 'gone'`);
  await state(east, `served = 'leaving', other_cell = 'west'`);
  assert.match(await asked(east, 'harbor'), /^"harbor" is closed on its way to the cell "west"\./);
  await state(east, `served = 'here', other_cell = null`);
  await directory.leave();
  try {
    assert.equal(
      await asked(west, 'harbor'),
      '"harbor" has left this cell. It went to the cell "east". Run the command there.',
    );
    assert.equal(await asked(east, 'harbor'), 'harbor');
  } finally {
    await directory.comeBack();
  }
});

/** The side, whose server gives other answers to some questions. */
const answering = (side: Side, pattern: RegExp, row: object): Side => {
  const query = async (statement: { readonly text: string }, values?: readonly unknown[]) =>
    pattern.test(statement.text)
      ? { rows: [row], rowCount: 1 }
      : side.db.query(statement as Parameters<Side['db']['query']>[0], values);
  return { ...side, db: { ...side.db, query: query as Side['db']['query'] } };
};

/** The side, one of whose standbys has not received the last commits, and is not waited for by them. */
const behind = (side: Side): Side => answering(side, /as standby from/, { standby: 'db2' });

test('a move names the server that does not fit, or cannot be reached', async () => {
  const asked = (change: (deps: MoveDeps) => Partial<MoveDeps>) =>
    between(east, west, (deps) => refusal(moveInstitution({ ...deps, ...change(deps) }, 'harbor', 'west')));
  const old = { major: 14, version: '14.9' };
  assert.match(
    await asked(({ source }) => ({ source: answering(source, /server_version_num'\)::integer \/ /, old) })),
    /The server of this cell is PostgreSQL 14\.9, and a move needs 15 or newer/,
  );
  assert.match(
    await asked(({ target }) => ({ target: answering(target, /server_version_num'\)::integer \/ /, old) })),
    /The server of the other cell is PostgreSQL 14\.9/,
  );
  assert.match(
    await asked(({ source }) => ({ source: answering(source, /'wal_level'/, { level: 'replica' }) })),
    /needs wal_level = logical/,
  );
  for (const [cell, change] of [
    ['this', ({ source }: MoveDeps) => ({ source: answering(source, /as names$/, { names: 'ANY 1 (*)' }) })],
    ['the other', ({ target }: MoveDeps) => ({ target: answering(target, /as names$/, { names: '*' }) })],
  ] as const)
    assert.match(
      await asked(change),
      new RegExp(`^synchronous_standby_names of ${cell} cell has a \\*, which would take the subscription`),
    );
  const most = { login: 'bank_owner', owner: true, all: true, subscribe: true, quiet: true };
  for (const stats of [true, false])
    assert.match(
      await asked(({ source }) => ({
        source: answering(answering(source, /as stats/, { ...most, stats }), /'wal_level'/, {
          level: 'replica',
        }),
      })),
      stats ? /needs wal_level = logical/ : /the roles pg_create_subscription and pg_read_all_stats,/,
    );
  await assert.rejects(openSide('postgresql://nobody@127.0.0.1:1/none', 'The third database'), {
    name: 'SideAwayError',
    message: /^The third database cannot be reached \(.+\)\.$/,
  });
  const lost = await openSide(west.ownerUrl, 'The other cell');
  await west.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sharedraft move'`,
  );
  const error: unknown = await moveOn(lost).catch((cause) => cause);
  assert.ok(error instanceof SideAwayError, String(error));
  assert.match(error.message, /^The other cell cannot be reached/);
  await lost.close();
});

/** A move whose target is given, and whose source and directory are as usual. */
const moveOn = (target: Side) =>
  between(east, west, (deps) => moveInstitution({ ...deps, target }, 'harbor', 'west'));

test('a move is refused before the pause unless the directory can send requests to the other cell', async () => {
  const asked = (change: (deps: MoveDeps) => Partial<MoveDeps> = () => ({})) =>
    between(east, west, (deps) => refusal(moveInstitution({ ...deps, ...change(deps) }, 'harbor', 'west')));
  const { directory } = east;
  const during = async (change: string, undo: string, expected: RegExp) => {
    await directory.rows(change);
    try {
      assert.match(await asked(), expected);
    } finally {
      await directory.rows(undo);
    }
  };
  const state = (text: string) => `update directory_cells set state = '${text}' where name = 'west'`;
  await during(state('out'), state('serving'), /The cell "west" is out, as the directory says/);
  const place = (cell: string) => `update directory_institutions set cell = '${cell}' where code = 'harbor'`;
  await during(
    place('west'),
    place('east'),
    /The directory says that the cell "west" serves "harbor"\. Run "sharedraft cell publish --take harbor"/,
  );
  const rename = (from: string, to: string) =>
    `alter table directory_institutions rename column ${from} to ${to}`;
  await during(
    rename('moves', 'later'),
    rename('later', 'moves'),
    /The directory of the cells has an older schema than this program/,
  );
  const others = async () =>
    (await directory.rows<{ name: string }>('select name from directory_cells')).filter(
      ({ name }) => name !== 'west',
    );
  const without = ({ directory: full }: MoveDeps) => ({
    directory: Object.assign(Object.create(full as CellDirectory), {
      listCells: others,
      find: async () => undefined,
    }) as CellDirectory,
  });
  assert.match(
    await asked(without),
    /The directory does not have the cell "west"\. Run "sharedraft cell set" there/,
  );
  await directory.leave();
  try {
    assert.match(
      await asked(),
      /^The directory of the cells \(DIRECTORY_DATABASE_URL\) cannot be reached .+\. Nothing has changed/,
    );
  } finally {
    await directory.comeBack();
  }
  const [state_] = await east.rows(`select served from institutions where code = 'harbor'`);
  assert.deepEqual(state_, { served: 'here' });
});

test('one of two commands at the same time moves the institution, and none leaves it between', async () => {
  const left = async () =>
    (
      await east.rows<{ times: number }>(
        `select count(*)::integer as times from audit_entries where action = 'institution.left' and subject = 'harbor'`,
      )
    )[0]?.times ?? 0;
  const before = await left();
  const words = ['institution', 'move', 'harbor', '--to', 'west'];
  const away = command(east, west, words, { CELL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
  const [one, other, third] = await Promise.all(
    [command(east, west, words), command(east, west, words), away].map(ended),
  );
  assert.match(third?.said ?? '', /^The database of the other cell \(CELL_DATABASE_URL\) cannot be reached/m);
  assert.notEqual(third?.code, 0);
  const both = [one, other].map((end) => end?.said ?? '');
  assert.equal(
    both.filter((said) => /is open at the cell "west": \d+ rows/.test(said)).length,
    1,
    both.join('\n'),
  );
  // The second one waits for five seconds, and finds a move that has ended, or one that goes on.
  assert.equal(
    both.filter((said) =>
      /"harbor" is open at the cell "west"\.$|Another command is moving "harbor"\./m.test(said),
    ).length,
    1,
    both.join('\n'),
  );
  assert.equal(await left(), before + 1);
  const states = await Promise.all(
    cells.map((cell) => cell.rows(`select served from institutions where code = 'harbor'`)),
  );
  assert.deepEqual(states, [[{ served: 'left' }], [{ served: 'here' }]]);
  await between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west'));

  const notes = await Promise.all(
    cells.map((cell) =>
      cell.rows<{ before: { cell: string; reconcile: Run }; after: { cell: string; reconcile: Run } }>(
        `select before_change as before, after_change as after from audit_entries
         where action = 'institution.move_reconciled' and subject = 'harbor' order by audit_key desc limit 1`,
      ),
    ),
  );
  for (const [note] of notes) {
    assert.deepEqual([note?.before.cell, note?.after.cell], ['east', 'west']);
    assert.equal(note?.before.reconcile.findings, 0);
    assert.equal(note?.after.reconcile.findings, 0);
    assert.ok(new Date(note.before.reconcile.finishedAt) <= new Date(note.after.reconcile.startedAt));
  }
  await between(east, west, (deps) => confirmMove(deps, 'harbor', 'west'));
  await between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'));
  await between(west, east, (deps) => confirmMove(deps, 'harbor', 'east'));
});

interface Run {
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly findings: number;
}

test('doctor names an unfinished move and everything that one has left, each with its cure', async () => {
  const doctor = async ({ url }: TestCell) => {
    const all = await Array.fromAsync(
      examine({ PUBLIC_URL: 'http://localhost', DATABASE_URL: url, SECRET_KEY: testSecretKey }),
    );
    return all
      .filter(({ check }) => /^moves? of (?:harbor|institutions)$/.test(check))
      .map(({ verdict, detail }) => `${verdict}: ${detail}`);
  };
  const found = (cell: TestCell, ...expected: RegExp[]) =>
    eventually('doctor says so', async () => {
      // The server ends the command of before a moment later, and with it the lock.
      const said = await doctor(cell);
      return (
        said.length === expected.length && expected.every((pattern, index) => pattern.test(said[index] ?? ''))
      );
    });
  await killedAt('arrive', east, west, 'harbor');
  await found(
    east,
    /^problem: A move from here was interrupted before its pause\. Left: publication sharedraft_move_2, slot sharedraft_move_\d+_2, which keeps \d+ MB of the log\.$/,
  );
  await killedAt('follow', east, west, 'harbor');
  await found(east, /^problem: It is closed in the middle of its move to "west"\. Left: publication/);
  await found(
    west,
    /^warning: It comes from the cell "east": .+ Left: subscription sharedraft_move_\d+_2\.$/,
  );
  await between(east, west, (deps) => undoMove(deps, 'harbor', 'west'));
  await found(east, /^ok: None is unfinished/);
  await east.rows('create publication sharedraft_move_999');
  await found(east, /^problem: A move that ended left the publication sharedraft_move_999\.$/);
  await east.rows('drop publication sharedraft_move_999');
});

/** Sends the n-th statement of this kind, and cuts the connections before its answer, as kill -9 inside a step does. */
async function cutInside(
  [pattern, nth]: readonly [RegExp, number],
  work: (deps: MoveDeps) => Promise<unknown>,
): Promise<void> {
  await between(east, west, async (deps) => {
    let seen = 0;
    await new Promise<void>((resolve, reject) => {
      const cut = (side: Side): Side => {
        const query: Side['db']['query'] = (statement, values) => {
          const sent = side.db.query<never>(statement, values);
          if (!pattern.test(statement.text)) return sent;
          seen += 1;
          if (seen !== nth) return sent;
          sent.catch(() => {});
          resolve();
          return new Promise(() => {});
        };
        return { ...side, db: { ...side.db, query } };
      };
      work({ ...deps, source: cut(deps.source), target: cut(deps.target) }).then(
        () => reject(new Error(`the statement ${pattern} was not sent`)),
        reject,
      );
    });
  });
}

test('a command on a move goes on after a cut inside each of its steps, and nothing is undone that the other cell has opened', async () => {
  const moving = (deps: MoveDeps) => moveInstitution(deps, 'harbor', 'west');
  const undoing = (deps: MoveDeps) => undoMove(deps, 'harbor', 'west');
  const confirming = (deps: MoveDeps) => confirmMove(deps, 'harbor', 'west');
  const states = () =>
    Promise.all(
      cells.map(async (cell) => {
        const [row] = await cell.rows<{ served: string }>(
          `select served from institutions where code = 'harbor'`,
        );
        return row?.served;
      }),
    );
  for (const point of [
    [/create or replace trigger/, 30],
    [/pg_create_logical_replication_slot/, 1],
    [/create subscription/, 1],
    [/from pg_subscription s join pg_subscription_rel/, 1],
    [/pg_current_wal_insert_lsn/, 1],
  ] as const)
    await cutInside(point, moving);
  assert.deepEqual(await states(), ['here', 'arriving'], 'the pause has not begun');
  await cutInside([/pg_current_wal_insert_lsn/, 2], moving);
  for (const point of [
    [/replay_lsn/, 1],
    [/hashtextextended/, 40],
    [/set served = \$2/, 1],
  ] as const) {
    assert.deepEqual(await states(), ['leaving', 'arriving']);
    await cutInside(point, moving);
  }
  await assert.rejects(
    between(east, west, (deps) => moving({ ...deps, source: behind(deps.source), standbyPatienceMillis: 0 })),
    /^Error: "harbor" has left this cell, and opens nowhere yet: The standby "db2" does not know that\./,
  );
  assert.deepEqual(await states(), ['left', 'arriving']);
  await cutInside([/null::public\."audit_keys"/, 1], moving);
  assert.deepEqual(await states(), ['left', 'arriving'], 'the directory names the other cell');
  await cutInside([/delete from public\."entries"/, 1], undoing);
  await between(east, west, undoing);
  assert.deepEqual(await states(), ['here', 'gone']);
  const undoRefused = async () =>
    assert.match(
      await refusal(between(east, west, undoing)),
      /^"harbor" was opened at the cell "west"\. Move it back from there\.$/,
    );
  await cutInside([/alter subscription \w+ disable/, 1], moving);
  await undoRefused();
  await cutInside([/drop publication/, 1], moving);
  await between(east, west, moving);
  await undoRefused();
  assert.match(
    await refusal(between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'))),
    /^The cell "east" still keeps the copy of before\. Confirm its move there first\.$/,
  );
  assert.match(
    await between(east, west, (deps) =>
      refusal(confirming({ ...deps, target: behind(deps.target), standbyPatienceMillis: 0 })),
    ),
    /^The standby "db2" of the cell "west" is behind, and a fail-over there could need this copy\./,
  );
  for (const point of [
    [/delete from public\."entries"/, 1],
    [/delete from public\."cell_keys"/, 1],
    [/set served = \$2/, 1],
  ] as const)
    await cutInside(point, confirming);
  await between(east, west, confirming);
  assert.deepEqual(await states(), ['gone', 'here']);
  await between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'));
  await between(west, east, (deps) => confirmMove(deps, 'harbor', 'east'));
  for (const cell of cells) {
    assert.deepEqual(await findings(cell), []);
    assert.deepEqual(await cell.rows('select slot_name from pg_replication_slots'), []);
    assert.deepEqual(await cell.rows('select subname from pg_subscription'), []);
    assert.deepEqual(await cell.rows(`select pubname from pg_publication`), []);
  }
});

/** A statement in each undo, within which it is killed; by the step in which its move was killed. */
const cutsOfUndo = {
  reconcile_here: [/^commit$/, 1],
  fence: [/create or replace trigger/, 1],
  publish: [/drop publication/, 1],
  arrive: [/pg_drop_replication_slot/, 1],
  copy: [/delete from public\."accounts"/, 1],
  close: [/^alter subscription \w+ disable/, 1],
  follow: [/^drop subscription/, 1],
  compare: [/^commit$/, 1],
  let_go: [/set served = \$2/, 2],
  switch: [/delete from public\."cell_keys"/, 1],
  // The directory names this cell again, and the institution is still closed.
  open: [/^begin$/, 1],
} as const satisfies Partial<Record<MoveStep, readonly [RegExp, number]>>;

test('a move that was killed at any step before the other cell opens is undone, by an undo that is killed too', async () => {
  const undoing = (deps: MoveDeps) => undoMove(deps, 'harbor', 'west');
  const tables = await between(east, west, ({ source }) => listTables(source.db));
  const copies = [...tablesOfCopy(tables).map(({ name }) => name), 'cell_keys'].map(
    (name) => `select '${name}' as name where exists (select from public."${name}" where institution_id = 2)`,
  );
  const leftAt = async (cell: TestCell) =>
    cell.rows(`select pubname::text as name from pg_publication
      union all select slot_name::text from pg_replication_slots
      union all select subname::text from pg_subscription`);
  const stateAt = async (cell: TestCell) => {
    const [row] = await cell.rows<{ served: string; moves: number }>(
      `select served, moves from institutions where code = 'harbor'`,
    );
    return row;
  };
  const north = { name: 'north', firstNumber: 2001, lastNumber: 2999, setAt: new Date(0) };
  const member = new RetryingClient([east]);
  const grant = { grant_type: 'password', username: 'demo.member', password: 'harbor-member-password' };
  await member.logIn({ ...grant, ...harborApp });

  for (const [step, cut] of Object.entries(cutsOfUndo)) {
    await killedAt(step, east, west, 'harbor');
    // A third cell looks like a target that was restored to a moment before the move.
    if (step === 'copy' || step === 'open')
      await between(east, west, async ({ directory: _, target, ...more }) => {
        const deps = { ...more, target: answering(target, /from cell$/, north) };
        assert.match(
          await refusal(moveInstitution(deps, 'harbor', 'north')),
          /^"harbor" is on its way to the cell "west"\. Undo that move first\.$/,
        );
        assert.match(
          await refusal(undoMove(deps, 'harbor', 'north')),
          /^The move of "harbor" is one to the cell "west"\. Name that cell\.$/,
        );
      });
    await cutInside(cut, undoing);
    await between(east, west, undoing);
    for (const cell of cells) assert.deepEqual(await leftAt(cell), [], `${step}: ${cell.name}`);
    assert.deepEqual(await west.rows(copies.join(' union all ')), [], `${step}: rows of the copy`);
    assert.ok([undefined, 'gone'].includes((await stateAt(west))?.served), step);
    const here = await stateAt(east);
    assert.equal(here?.served, 'here', step);
    const [placed] = await east.directory.rows(
      `select cell, moves from directory_institutions where code = 'harbor'`,
    );
    assert.deepEqual(placed, { cell: 'east', moves: here.moves }, step);
    const paid = await member.request('POST', paths.transfers, {
      ...{ id: `behind-the-undo-at-${step}`, amount: 0.01 },
      ...{ fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' },
    });
    assert.equal(paid.status, 201, `${step}: ${paid.text}`);
  }
  for (const cell of cells) assert.deepEqual(await findings(cell), []);
});

/** Ends the server without a shutdown: it recovers from its log, as after a loss of power. */
async function crash(cell: TestCell): Promise<void> {
  const [backend] = await cell.rows<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  );
  assert.ok(backend !== undefined);
  process.kill(backend.pid, 'SIGKILL');
}

test('a move goes on after a crash of the other server during the copy, and of this one in the pause', async () => {
  const words = ['institution', 'move', 'harbor', '--to', 'west'];
  for (const [line, victim] of [
    ['Copying. ', west],
    ['Comparing', east],
  ] as const) {
    const moving = command(east, west, words);
    const end = once(moving, 'close');
    let said = '';
    moving.stderr.resume();
    for await (const part of moving.stdout) {
      const before = said;
      said += String(part);
      if (said.includes(line) && !before.includes(line)) await crash(victim);
    }
    await end;
    await eventually('the server is back', () =>
      victim.rows('select 1').then(
        () => true,
        () => false,
      ),
    );
  }
  const [last] = await west.rows<{ served: string }>(`select served from institutions where code = 'harbor'`);
  if (last?.served !== 'here') {
    const { code, said } = await ended(command(east, west, words));
    assert.equal(code, 0, said);
  }
  await between(east, west, (deps) => confirmMove(deps, 'harbor', 'west'));
  await between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'));
  await between(west, east, (deps) => confirmMove(deps, 'harbor', 'east'));
  for (const cell of cells) assert.deepEqual(await findings(cell), []);
});

test('a target that was restored to the middle of a move is not opened, and the move is undone', async () => {
  await killedAt('switch', east, west, 'harbor');
  // The slot is ahead of what a backup of the target had.
  await west.rows(`set session_replication_role = 'replica';
    delete from balances where institution_id = 2 and account_key = (select min(account_key) from balances where institution_id = 2)`);
  await assert.rejects(
    between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west')),
    { message: 'The two cells have other rows in balances. Nothing has opened. Undo the move of "harbor".' },
  );
  const served = async (cell: TestCell) =>
    (await cell.rows<{ served: string }>(`select served from institutions where code = 'harbor'`))[0]?.served;
  assert.deepEqual([await served(east), await served(west)], ['left', 'arriving']);
  await between(east, west, (deps) => undoMove(deps, 'harbor', 'west'));
  assert.deepEqual([await served(east), await served(west)], ['here', 'gone']);
});

test('a move whose slot is gone, as after a fail-over of the source, is refused until it is undone', async () => {
  await killedAt('close', east, west, 'harbor');
  const [slot] = await east.rows<{ name: string }>('select slot_name as name from pg_replication_slots');
  assert.ok(slot !== undefined);
  await west.rows(`alter subscription ${slot.name} disable`);
  await eventually('the slot is dropped', () =>
    east.rows(`select pg_drop_replication_slot('${slot.name}')`).then(
      () => true,
      () => false,
    ),
  );
  const again = () => between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west'));
  assert.match(
    await refusal(again()),
    /has lost its slot at the source, as after a fail-over\. Undo the move/,
  );
  await between(east, west, (deps) => undoMove(deps, 'harbor', 'west'));
  assert.deepEqual(await west.rows('select subname from pg_subscription'), []);
});

test('a move is made for a fail-over of its source, and ends when its slot is lost in the copy', async () => {
  const holder = await openSide(west.ownerUrl);
  const say = (statement: string) => holder.db.query({ name: '', text: statement });
  let lost: Promise<unknown> | undefined;
  let told: object[] = [];
  const onStep = async (step: string, detail?: string) => {
    if (step !== 'copy' || lost !== undefined) return;
    // The copy of this table waits, so that the others are not done before the slot is gone.
    if (detail === undefined) {
      await say('begin');
      await say('lock table consents in share mode');
      return;
    }
    lost = eventually('the slot is dropped', async () => {
      const [slot] = await east.rows<{ name: string; failover: boolean }>(
        `select slot_name as name, failover from pg_replication_slots where slot_name like 'sharedraft_move_%'`,
      );
      const subscribed = await west.rows(
        `select subfailover as failover, subconninfo ~ '[?&]target_session_attrs=read-write$' as "findsPrimary" from pg_subscription`,
      );
      told = [{ failover: slot?.failover }, ...subscribed];
      const drop = `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${slot?.name}';
        select pg_drop_replication_slot('${slot?.name}')`;
      return east.rows(drop).then(
        () => true,
        () => false,
      );
    });
  };
  try {
    await assert.rejects(
      between(east, west, (deps) => moveInstitution({ ...deps, onStep }, 'harbor', 'west')),
      /has lost its slot at the source\. Undo the move/,
    );
    await lost;
  } finally {
    await holder.close();
  }
  assert.deepEqual(told, [{ failover: true }, { failover: true, findsPrimary: true }]);
  await between(east, west, (deps) => undoMove(deps, 'harbor', 'west'));
  assert.deepEqual(await west.rows('select subname from pg_subscription'), []);
});

/** The row of harbor at the first cell, as a backup has it. */
const restoreTo = (row: string) =>
  east.rows(`set session_replication_role = 'replica'; update institutions set ${row} where code = 'harbor'`);
const stateAtEast = () =>
  east.rows(`select served, other_cell as other from institutions where code = 'harbor'`);
const lastLeft = () =>
  east.rows(
    `select after_change as after from audit_entries where action = 'institution.left' and subject = 'harbor'
     order by audit_key desc limit 1`,
  );

test('a source that was restored to a moment before a move does not start, and closes what has moved', async () => {
  await between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west'));
  const start = () => publishAtStart(east.service.context, () => {});
  await start();
  // The directory knows no later move, so no process closes anything meanwhile.
  await restoreTo(`served = 'here', other_cell = null, moves = moves + 1`);
  const refused = {
    name: 'ServiceStartError',
    message:
      /^This cell has "harbor" as its own, and the directory says that the cell "west" serves it\. If .+ "sharedraft restored"; if .+ "sharedraft cell publish --take harbor"\.$/,
  };
  await assert.rejects(start(), refused);
  await compareOnce(east.service.context, east.service.context.directory as CellDirectory, () => {});
  assert.deepEqual(await stateAtEast(), [{ served: 'here', other: null }], 'one of the two is wrong');
  await restoreTo(`served = 'leaving', other_cell = 'west'`);
  await assert.rejects(start(), refused);
  await east.rows('drop trigger fence_written on accounts');
  const restored = command(east, west, ['restored']);
  const said = await text(restored.stdout);
  assert.match(said, /^harbor: the cell "west" serves it since, and this cell no longer does\.$/m);
  assert.doesNotMatch(said, /^harbor: readers/m);
  await start();
  assert.deepEqual(await stateAtEast(), [{ served: 'left', other: 'west' }]);
  assert.deepEqual(await lastLeft(), [{ after: { to: 'west' } }]);
  await assert.rejects(east.rows(`update accounts set description = 'Late' where institution_id = 2`), {
    code: 'SD151',
  });
  await between(east, west, (deps) => confirmMove(deps, 'harbor', 'west'));
  await between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'));
  await between(west, east, (deps) => confirmMove(deps, 'harbor', 'east'));
});

test('a running service closes an institution that moved after the moment to which its database was restored', async () => {
  const member = new RetryingClient([east]);
  const grant = { grant_type: 'password', username: 'demo.member', password: 'harbor-member-password' };
  await member.logIn({ ...grant, ...harborApp });
  const { token } = member;
  const [{ moves }] = (await east.rows(`select moves from institutions where code = 'harbor'`)) as [
    { moves: number },
  ];
  await between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west'));
  const [{ entries }] = (await east.rows(
    `select count(*)::integer as entries from audit_entries where action = 'institution.left'`,
  )) as [{ entries: number }];
  const said =
    /^This cell has "harbor" as its own, and the directory knows that it has moved to the cell "west" since/;
  await eventually("an operator's command is refused", async () => {
    // A process of the cell may close it first.
    await restoreTo(`served = 'here', other_cell = null, moves = ${moves}`);
    const error: unknown = await chooseInstitution(east.service.context, 'harbor').catch((cause) => cause);
    return error instanceof CommandError && / is older than the move of "harbor"\./.test(error.message);
  });
  await eventually('a start is refused', async () => {
    await restoreTo(`served = 'here', other_cell = null, moves = ${moves}`);
    const error: unknown = await publishAtStart(east.service.context, () => {}).catch((cause) => cause);
    return error instanceof Error && said.test(error.message);
  });
  const events: unknown[] = [];
  await eventually('it is closed', async () => {
    await compareOnce(
      east.service.context,
      east.service.context.directory as CellDirectory,
      (event, details) => events.push({ event, ...details }),
    );
    return isDeepStrictEqual(await stateAtEast(), [{ served: 'left', other: 'west' }]);
  });
  assert.deepEqual(await lastLeft(), [{ after: { to: 'west' } }]);
  const [since] = await east.rows<{ entries: number }>(
    `select count(*)::integer as entries from audit_entries where action = 'institution.left'`,
  );
  assert.ok((since?.entries ?? 0) > entries);
  await eventually('requests are refused', async () => (await statusOf(east, token)).status === 421);
  await eventually('the other cell serves it', async () => (await statusOf(west, token)).status === 200);
  await assert.rejects(
    east.rows(
      `set session_replication_role = 'origin'; update institutions set served = 'here', other_cell = null, moves = 0 where code = 'harbor'`,
    ),
    { code: 'SD152' },
    'the number of moves never shrinks',
  );
  await between(east, west, (deps) => confirmMove(deps, 'harbor', 'west'));
  await between(west, east, (deps) => moveInstitution(deps, 'harbor', 'east'));
  await between(west, east, (deps) => confirmMove(deps, 'harbor', 'east'));
});

test('a cell whose database was restored or promoted does not start while the directory is away', async () => {
  const start = () => publishAtStart(east.service.context, () => {});
  const logged: string[] = [];
  await east.directory.leave();
  try {
    await publishAtStart(east.service.context, (event) => logged.push(event));
    assert.deepEqual(logged, ['directory_not_published'], 'the database of the last comparison');
    const [known] = await east.rows<{ timeline: string }>('select compared_timeline as timeline from cell');
    for (const other of [`'another/000000001'`, 'null']) {
      await east.rows(`update cell set compared_timeline = ${other}`);
      await assert.rejects(start(), {
        name: 'ServiceStartError',
        message: /^The directory of the cells cannot be reached, and this database was restored/,
      });
    }
    await east.directory.comeBack();
    await start();
    assert.deepEqual(await east.rows('select compared_timeline as timeline from cell'), [known]);
  } finally {
    await east.directory.comeBack();
  }
});

test('the database refuses a number of another cell, and a step of a move out of its order', async () => {
  const insert = (id: number) =>
    west.rows(`insert into institutions (institution_id, code, name, currency, time_zone, enrollment, created_at)
      overriding system value values (${id}, 'fresh', 'Fresh', 'USD', 'UTC', 'closed', now())`);
  await assert.rejects(insert(7), { code: 'SD152' });
  await assert.rejects(
    east.rows(`update institutions set served = 'gone', other_cell = 'west' where code = 'harbor'`),
    {
      code: 'SD152',
    },
  );
});

test('everything that an institution had before its move is used at the cell to which it moved', async () => {
  await using receiver = await startReceiver();
  const has = await furnish(east, receiver);
  await between(east, west, (deps) => moveInstitution(deps, 'harbor', 'west'));
  await useAll(west, has);
  assert.deepEqual(await findings(west), []);
});

/** Rows that mean nothing are full of findings, so reconcile reads none of them. */
const unread = (side: Side): Side => {
  const database = new Proxy(side.database, {
    get: (of, name) => {
      if (name === 'read') return async () => ({ at: new Date(), epoch: 0n, xid: '3' });
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  return { ...side, database };
};
const unreconciled = (deps: MoveDeps): MoveDeps => ({
  ...deps,
  source: unread(deps.source),
  target: unread(deps.target),
});

test('a move brings every column of every table, and its undo and its confirmation leave no row behind', async () => {
  // Nothing works on the rows beside the move.
  await Promise.all(cells.map(({ service }) => service.close()));
  await east.rows(`insert into institutions (institution_id, code, name, currency, time_zone, enrollment, created_at)
    overriding system value values (900, 'cedar', 'Cedar', 'USD', 'UTC', 'closed', now())`);
  const all = await between(east, west, ({ source }) => listTables(source.db));
  const moved = thatMove(all, 'replicated', 'at_the_end');
  await fillInstitution(cells, east, { institutionId: 900, tables: moved.map(({ name }) => name) });
  const rowsOf = async (cell: TestCell, tables = moved) => {
    const parts = tables.map(
      ({ name, columns }) =>
        `select '${name}' as name, count(*)::integer as rows, coalesce(sum(num_nulls(${columns})), 0)::integer as nulls,
                coalesce(string_agg(row(${columns})::text, ' ' order by row(${columns})::text), '') as content
         from public."${name}" where institution_id = 900`,
    );
    return cell.rows<{ name: string; rows: number; nulls: number; content: string }>(
      `${parts.join(' union all ')} order by 1`,
    );
  };
  const filled = await rowsOf(east);
  assert.deepEqual(
    filled.filter(({ rows, nulls }) => rows !== 1 || nulls !== 0).map(({ name }) => name),
    [],
    'every table has a row, with every column',
  );
  const left = async (cell: TestCell) =>
    (await rowsOf(cell, tablesOfCopy(all))).filter(({ rows }) => rows > 0).map(({ name }) => name);

  await killedAt('open', east, west, 'cedar', unreconciled);
  const copied = await rowsOf(west);
  assert.deepEqual(copied, await rowsOf(east));
  // The command noted its own run.
  const ofRuns = ['reconcile_runs', 'reconcile_results'];
  const unchanged = (one: readonly { readonly name: string }[]) =>
    one.filter(({ name }) => !ofRuns.includes(name));
  assert.deepEqual(unchanged(copied), unchanged(filled));

  await between(east, west, (deps) => undoMove(deps, 'cedar', 'west'));
  assert.deepEqual(await left(west), []);
  await between(east, west, (deps) => moveInstitution(unreconciled(deps), 'cedar', 'west'));
  const there = new Map((await rowsOf(west)).map((one) => [one.name, one.content]));
  for (const { name, content } of filled)
    if (name !== 'reconcile_runs') assert.ok(there.get(name)?.includes(content), name);
  await between(east, west, (deps) => confirmMove(deps, 'cedar', 'west'));
  assert.deepEqual(await left(east), []);
});
