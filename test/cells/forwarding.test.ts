import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from '../../src/auth/index.ts';
import { moveInstitution } from '../../src/cells/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { harborApp, lakesideApp, pay, RetryingClient } from '../support/cell-clients.ts';
import { between, startCells, type TestCell } from '../support/cells.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import { eventually } from '../support/processes.ts';

/* Two cells with a directory, and clients that know the address of one cell only. */

let cells: Awaited<ReturnType<typeof startCells>>;
let east: TestCell;
let west: TestCell;
before(async () => {
  cells = await startCells({ forwards: true });
  [east, west] = cells;
});
after(() => cells?.[Symbol.asyncDispose]());

const password = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
const accounts = (cell: TestCell, token: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(cell.address, 'GET', paths.accounts, { headers: { authorization: `Bearer ${token}`, ...headers } });
const login = (cell: TestCell, grant: object) => send(cell.address, 'POST', paths.token, { body: grant });

let lakeside: string;
let harbor: string;

test('a client that knows only the first address pays while its institution moves: nothing is lost, and only 503 is noticed', {
  timeout: 300_000,
}, async () => {
  let stopped = false;
  const member = new RetryingClient([east]);
  await member.logIn({ ...password, ...lakesideApp });
  lakeside = member.token;
  let decided = 0;
  const paying = pay(
    member,
    () => stopped,
    () => (decided += 1),
  );
  await eventually('orders are decided', async () => decided > 2);
  await between(east, west, (deps) => moveInstitution(deps, 'lakeside', 'west'));
  const seen = decided;
  await eventually('orders are decided at the new cell', async () => decided > seen + 2);
  stopped = true;
  const orders = await paying;
  const stored = new Map(
    (
      await west.rows<{ id: string; status: string }>(
        `select transfer_id as id, status from transfers where institution_id = 1`,
      )
    ).map(({ id, status }) => [id, status]),
  );
  for (const [id, status] of orders)
    assert.equal(stored.get(id), status === 422 ? 'FAILED' : 'COMPLETED', `order ${id}`);
  assert.deepEqual(
    member.retried.filter((status) => ![429, 503].includes(status)),
    [],
  );
});

test('tokens, logins and revocations reach their cell from either address, with the caller’s own address', async () => {
  const other = await login(west, { ...password, ...harborApp, password: 'harbor-member-password' });
  assert.equal(other.status, 200, other.text);
  harbor = other.body.access_token;
  for (const [cell, token] of [
    [east, lakeside],
    [west, lakeside],
    [east, harbor],
    [west, harbor],
  ] as const)
    assert.equal((await accounts(cell, token)).status, 200);
  const spoofed = { 'x-forwarded-for': '203.0.113.9', 'sharedraft-forwarded': '1 x 203.0.113.9' };
  assert.equal(
    (await accounts(east, lakeside, spoofed)).status,
    421,
    'a request that says so takes no second hop',
  );
  const fresh = await send(east.address, 'POST', paths.token, {
    headers: { 'x-forwarded-for': '203.0.113.9' },
    body: { ...password, ...lakesideApp },
  });
  assert.equal(fresh.status, 200, fresh.text);
  const addresses = await west.rows<{ address: string }>(
    `select distinct host(address::inet) as address from audit_entries where institution_id = 1 and address is not null`,
  );
  assert.deepEqual(addresses, [{ address: '127.0.0.1' }]);
});

test('a client id of another cell is refused, and one of nobody is created', async () => {
  const make = (clientId: string) =>
    createClient(
      east.service.context.auth,
      {
        institutionId: 2 as InstitutionId,
        clientId,
        name: 'Twin',
        scopes: ['account:read'],
        grants: ['client_credentials'],
      },
      ownOrigin(),
    );
  await west.directory.rows(
    `insert into directory_clients values ('taken-at-west', 1, now()) on conflict do nothing`,
  );
  await assert.rejects(make('taken-at-west'), {
    code: 'invalid_request',
    message: /"taken-at-west" belongs to the institution "lakeside" of the cell "west"/,
  });
  assert.ok(await make('fresh-at-east'));
  const [claimed] = await east.directory.rows(
    `select institution_id from directory_clients where client_id = 'fresh-at-east'`,
  );
  assert.deepEqual(claimed, { institution_id: 2 });
});

/** Changes the directory for the time of the work. */
async function withDirectory(change: string, undo: string, work: () => Promise<void>): Promise<void> {
  await east.directory.rows(change);
  try {
    await work();
  } finally {
    await east.directory.rows(undo);
  }
}

test('a cell that is away is a refusal at once, and the other institutions notice nothing', async () => {
  const set = (address: string) => `update directory_cells set address = '${address}' where name = 'west'`;
  await withDirectory(set('http://127.0.0.1:1'), set(west.address), async () => {
    const answer = await accounts(east, lakeside);
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.body.code, 'database_unavailable');
    assert.match(answer.body.detail, /The cell "west" cannot be reached/);
    assert.ok(answer.headers.has('retry-after'));
    assert.equal((await accounts(east, harbor)).status, 200);
  });
  const state = (text: string) => `update directory_cells set state = '${text}' where name = 'west'`;
  await withDirectory(state('out'), state('serving'), async () => {
    assert.match((await accounts(east, lakeside)).body.detail, /The cell "west" is out of service/);
  });
  assert.equal((await accounts(east, lakeside)).status, 200);
});

test('a wrong directory is a clear refusal, and never a loop', async () => {
  const address = (text: string) => `update directory_cells set address = '${text}' where name = 'west'`;
  await withDirectory(address(east.address), address(west.address), async () => {
    const answer = await accounts(east, lakeside);
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.body.detail, /The cell "west" does not serve the institution/);
  });
  const place = (cell: string) =>
    `update directory_institutions set cell = '${cell}' where code = 'lakeside'`;
  await withDirectory(place('east'), place('west'), async () => {
    assert.equal((await accounts(west, lakeside)).status, 200, 'the cell that has it asks nobody');
    const answer = await accounts(east, lakeside);
    assert.deepEqual([answer.status, answer.body.code], [503, 'institution_moving']);
  });
  assert.equal((await accounts(east, lakeside)).status, 200);
});

test('a directory that is away stops no cell from serving its own institutions', async () => {
  await east.directory.leave();
  try {
    assert.equal((await accounts(east, harbor)).status, 200);
    assert.equal((await accounts(west, lakeside)).status, 200);
    assert.equal((await login(west, { ...password, ...lakesideApp })).status, 200);
    const answer = await accounts(east, lakeside);
    assert.deepEqual([answer.status, answer.body.code], [503, 'database_unavailable']);
    await assert.rejects(
      createClient(
        east.service.context.auth,
        { institutionId: 2 as InstitutionId, clientId: 'late', name: 'Late', scopes: [], grants: [] },
        ownOrigin(),
      ),
      /The directory of the cells cannot be reached/,
    );
  } finally {
    await east.directory.comeBack();
  }
  await eventually('requests are sent on again', async () => (await accounts(east, lakeside)).status === 200);
});
