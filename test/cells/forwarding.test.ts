import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { publishAtStart } from '../../src/app/cells/publishing.ts';
import { createClient, logOut, signJwt } from '../../src/auth/index.ts';
import { confirmMove, moveInstitution } from '../../src/cells/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { changeInstitution, createInstitution } from '../../src/operators/index.ts';
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

const origin = { ...ownOrigin(), operator: { user: 'tester', host: 'test' } };
const numbers = { lakeside: 1, harbor: 2 } as Record<'lakeside' | 'harbor', InstitutionId>;
const giveHost = (
  { service: { context } }: TestCell,
  code: 'lakeside' | 'harbor',
  host: string | null = bank,
) => changeInstitution(context, numbers[code], { settings: { host }, origin });
const bank = 'bank.lakeside.example';
/** The issuer that a cell names at the host, or the code of its refusal. `sent-on` keeps the cell from asking another one. */
const issuerAt = async ({ address }: TestCell, path = '/.well-known/openid-configuration', headers = {}) => {
  const { status, body } = await send(address, 'GET', path, { headers: { host: bank, ...headers } });
  return status === 200 ? (body.issuer ?? 'keys') : body.code;
};
const sentOn = { 'sharedraft-forwarded': 'no second hop' };

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
  await giveHost(east, 'lakeside');
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

/** The cells compare themselves with the directory at once, in place of every ten seconds. */
const publishNow = async () => {
  for (const { service } of [west, east, west]) await publishAtStart(service.context, () => {});
};
const keysAt = async ({ address }: TestCell, headers = {}) => {
  const { body } = await send(address, 'GET', '/auth/v2/jwks', { headers });
  return body as { readonly keys: { readonly kid: string }[] };
};
const kidOf = async ({ service }: TestCell) => (await service.context.auth.keys.signer()).kid;

test('the keys of PUBLIC_URL are those of all cells, so a resource server verifies a token of any of them', async () => {
  const [ofEast, ofWest] = [await kidOf(east), await kidOf(west)];
  await eventually('the cells know the keys of each other', async () => {
    await publishNow();
    const known = await Promise.all(cells.map((cell) => keysAt(cell)));
    return known.every(({ keys }) => [ofEast, ofWest].every((kid) => keys.some((key) => key.kid === kid)));
  });
  const fresh = (await login(west, { ...password, ...lakesideApp })).body.access_token;
  const { issuer } = west.service.context.auth;
  for (const cell of cells) {
    const keys = createLocalJWKSet(await keysAt(cell));
    const signers = [lakeside, harbor, fresh].map((token) =>
      jwtVerify(token, keys, { issuer, audience: issuer }).then(({ protectedHeader: { kid } }) => kid),
    );
    assert.deepEqual(
      await Promise.all(signers),
      [ofEast, ofEast, ofWest],
      'of before the move, and behind it',
    );
  }
  const atHost = (await keysAt(west, { host: bank })).keys.map(({ kid }) => kid);
  assert.deepEqual(
    atHost.toSorted(),
    [ofEast, ofWest].toSorted(),
    'of the cell, and of the one that it came from',
  );
});

test('a cell accepts no token that another one signed, unless its institution came from there', async () => {
  const { auth } = west.service.context;
  const { auth: ofEast } = east.service.context;
  const subject = { clientId: 'x', use: 'client', clientEpoch: 0, scopes: [] } as const;
  const forge = (from: typeof auth, institutionId: number) =>
    from.tokens.issue({ ...subject, institutionId: institutionId as InstitutionId }, 60);
  const verify = async (to: typeof auth, token: Promise<string>) => to.tokens.verify(await token);
  await assert.rejects(
    verify(ofEast, forge(auth, 2)),
    { code: 'invalid_token' },
    'of an institution that stayed',
  );
  await assert.rejects(verify(ofEast, forge(auth, 1)), { code: 'invalid_token' }, 'of one that left');
  await assert.rejects(
    verify(auth, forge(ofEast, 1500)),
    { code: 'invalid_token' },
    'of one that never was there',
  );
  assert.equal((await verify(auth, forge(ofEast, 1))).institutionId, 1, 'a token of before the move');
});

test('a key that its cell deletes leaves the keys of every cell', async () => {
  const before = await kidOf(west);
  await west.service.context.auth.keys.rotate('compromised', origin);
  const now = await kidOf(west);
  await eventually('the deleted key is gone, and the new one is known', async () => {
    await east.directory.rows(`update directory_keys set published_at = now() - interval '2 minutes'`);
    await publishNow();
    const kids = (await keysAt(east)).keys.map(({ kid }) => kid);
    return !kids.includes(before) && kids.includes(now);
  });
  const { directoryState, clock, auth } = east.service.context;
  const lost = new Date(clock().getTime() + 4 * 24 * 60 * 60_000);
  assert.deepEqual(directoryState.withKeysOfOthers([], lost), [], 'nor does the key of a lost cell stay');
  assert.ok((await auth.keys.published()).every((jwk) => (jwk as { kid: string }).kid !== before));
});

test('a host name is the issuer of its institution at the cell that serves it, and at no other', async () => {
  const { claims } = west.service.context;
  const listed = async () => {
    const directory = east.directory.open();
    const hosts = await directory.listHosts();
    await directory.close();
    return hosts.map(({ host, code, cell }) => [host, code, cell]);
  };
  assert.deepEqual(await listed(), [[bank, 'lakeside', 'west']], 'the name moved with its institution');
  const paths = [
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/auth/v2/jwks',
  ];
  const refused = async () => {
    for (const path of paths) {
      assert.equal(await issuerAt(east, path, sentOn), 'institution_elsewhere', path);
      assert.match(await issuerAt(east, path), /^(https:\/\/bank\.lakeside\.example|keys)$/, path);
      assert.match(await issuerAt(west, path), /^(https:\/\/bank\.lakeside\.example|keys)$/, path);
    }
    await assert.rejects(
      giveHost(east, 'harbor'),
      /belongs to the institution "lakeside" of the cell "west"/,
    );
    await assert.rejects(giveHost(east, 'lakeside'), { code: 'institution_elsewhere' });
  };
  await refused();
  await between(east, west, (deps) => confirmMove(deps, 'lakeside', 'west'));
  await refused();
  await assert.rejects(
    async () => claims?.provider(numbers.lakeside, { issuer: `https://${bank}`, audience: 'a' }),
    {
      message: /is an institution's own issuer/,
    },
  );

  await giveHost(west, 'lakeside', null);
  await east.directory.rows(`alter table directory_hosts disable trigger user`);
  await east.directory.rows(`update directory_hosts set claimed_at = now() - interval '11 minutes'`);
  await east.directory.rows(`alter table directory_hosts enable trigger user`);
  await eventually('the name is free', async () => {
    await publishNow();
    return (await listed()).length === 0;
  });
  assert.equal(await issuerAt(west), west.service.context.auth.issuer, 'one of the many names of PUBLIC_URL');
  await giveHost(east, 'harbor');
  assert.deepEqual(await listed(), [[bank, 'harbor', 'east']]);
  for (const cell of cells) assert.equal(await issuerAt(cell), `https://${bank}`);
  const { body } = await send(east.address, 'GET', paths[0] as string, {
    headers: { host: bank, ...sentOn },
  });
  assert.equal(body.issuer, `https://${bank}`, 'the row of the one that is gone is no hindrance');
});

test('an institution is created under a code of its own over all cells, or not at all', async () => {
  const create = (cell: TestCell, code: string) => {
    const settings = { code, name: 'Birch', currency: 'USD', timeZone: 'UTC', enrollment: 'closed' } as const;
    const rest = { openingDepositMinor: 0n, passwordMinLength: 15, demo: true };
    return createInstitution(cell.service.context, { settings: { ...settings, ...rest }, origin });
  };
  const made = await create(east, 'birch');
  assert.equal(made.kind, 'created');
  const [claimed] = await east.directory.rows(
    `select institution_id, cell from directory_institutions where code = 'birch'`,
  );
  assert.deepEqual(claimed, { institution_id: made.institution.institutionId, cell: 'east' });
  await assert.rejects(create(west, 'birch'), {
    code: 'invalid_request',
    message: /The cell "east" has another institution with the code "birch"/,
  });
  await west.directory.rows(`insert into directory_institutions values (1500, 'cedar', 'west', now())`);
  const [both, again] = await Promise.all([create(west, 'cedar'), create(west, 'cedar')]);
  assert.deepEqual([both, again].map(({ kind }) => kind).toSorted(), ['created', 'exists']);
  assert.equal(both.institution.institutionId, 1500, 'a claim that was interrupted is taken up');
  await east.directory.leave();
  try {
    await assert.rejects(create(east, 'elm'), { code: 'database_unavailable' });
  } finally {
    await east.directory.comeBack();
  }
  assert.deepEqual(await east.rows(`select code from institutions where code = 'elm'`), []);
});

test('an ID token that another cell signed ends no session of an institution that never was there', async () => {
  const { auth } = west.service.context;
  const { institutionId } = (
    await west.rows<{ institutionId: InstitutionId }>(
      `select institution_id as "institutionId" from institutions where code = 'cedar'`,
    )
  )[0] as { institutionId: InstitutionId };
  const clientId = 'cedar-app';
  await createClient(
    auth,
    { institutionId, clientId, name: 'Cedar', scopes: ['account:read'], grants: ['client_credentials'] },
    origin,
  );
  const hintOf = ({ service }: TestCell) =>
    signJwt(service.context.auth.keys, {
      typ: 'JWT',
      claims: { iss: auth.issuer, sub: 'a-member', aud: clientId, iat: 0, exp: 1 },
    });
  const browser = {
    secret: undefined,
    sessionSecret: () => undefined,
    userAgent: undefined,
    origin: ownOrigin(),
  };
  const leave = async (cell: TestCell) =>
    (await logOut(auth, { values: { id_token_hint: await hintOf(cell) }, repeated: [] } as never, browser))
      .kind;
  assert.equal(await leave(west), 'left');
  assert.equal(await leave(east), 'ask');
});
