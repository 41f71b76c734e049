import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hash } from '@node-rs/argon2';
import {
  type AuthDeps,
  activateMember,
  issueToken,
  OAuthError,
  PasswordHasher,
  reissueActivation,
  setStanding,
  tooManyLogins,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import { FairQueue } from '../../src/shared/fair-queue.ts';
import { Problem } from '../../src/shared/problem.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { memberOf, paths } from '../support/demo.ts';
import { recording } from '../support/recording.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now, environment: { FAILED_LOGIN_PAUSE_MILLIS: '0' } });
});
after(() => service.close());

const auth = () => service.service.context.auth;

/** The result of a login: `ok`, or the error with its description. */
async function login(
  username: string,
  password: string,
  deps: AuthDeps = auth(),
  clientId = 'demo-app',
): Promise<string> {
  const client = { client_id: clientId, client_secret: `${clientId}-secret` };
  const parameters = { grant_type: 'password', ...client, username, password };
  const raw = { parameters, repeated: [], authorization: undefined, origin: ownOrigin() };
  try {
    await issueToken(deps, raw);
    return 'ok';
  } catch (error) {
    if (error instanceof OAuthError || error instanceof Problem) return error.message;
    throw error;
  }
}

const refused = 'invalid_grant: The username or the password is wrong.';

/** Members for wrong passwords, each used by one test. */
const right = {
  'pebble.primary': 'pebble-blue-lantern-1',
  'fern.joint': 'fern-green-lantern-2',
  'cedar.owner': 'cedar-red-lantern-3',
  'hazel.signer': 'hazel-gold-lantern-4',
  'juniper.two': 'juniper-two-lantern-5',
  'rowan.owner': 'rowan-bread-lantern-6',
} as const;

interface UserRow {
  readonly password_hash: string;
  readonly failed_logins: number;
  readonly locked_until: Date | null;
}

async function userOf(username: string): Promise<UserRow> {
  const [row] = await service.db.superuser<UserRow>(
    `select password_hash, failed_logins, locked_until from users u join institutions i using (institution_id)
     where username = $1 and i.code = 'lakeside'`,
    [username],
  );
  return row ?? assert.fail(`there is no ${username}`);
}

/** A hasher whose checks wait until they are released, like slow hashes. */
class HeldHasher extends PasswordHasher {
  readonly #gates: { readonly password: string; readonly open: () => void }[] = [];

  constructor() {
    super(8);
  }

  override async verify(encoded: string | null, password: string): Promise<boolean> {
    const matches = await super.verify(encoded, password);
    await new Promise<void>((open) => this.#gates.push({ password, open }));
    return matches;
  }

  async held(count: number): Promise<void> {
    while (this.#gates.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  letGo(password: string): void {
    for (const gate of this.#gates) if (gate.password === password) gate.open();
  }
}

class CountedQueue extends FairQueue {
  asked = 0;

  override run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    this.asked += 1;
    return super.run(caller, work);
  }
}

async function until(met: () => boolean): Promise<void> {
  while (!met()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('the user’s status is read again after hashing', () => {
  const username = 'pebble.primary';
  test('rejects the right password if five wrong ones lock the user meanwhile', async () => {
    const passwords = new HeldHasher();
    const deps = { ...auth(), passwords, logins: new FairQueue(8, 8, tooManyLogins) };
    const good = login(username, right[username], deps);
    const bad = [1, 2, 3, 4, 5].map(() => login(username, 'wrong', deps));
    await passwords.held(6);
    passwords.letGo('wrong');
    assert.deepEqual(await Promise.all(bad), Array(5).fill(refused));
    passwords.letGo(right[username]);
    assert.equal(await good, refused);
    assert.ok((await userOf(username)).locked_until);
  });

  for (const [change, what] of [
    [{ active: false }, 'deactivating'],
    [{ lockedByOperator: true }, 'a lock by the operator'],
  ] as const) {
    test(`rejects a login if the user changes meanwhile: ${what}`, async () => {
      const { database } = service.service.context;
      const lakeside = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
      const passwords = new HeldHasher();
      const good = login('fern.joint', right['fern.joint'], { ...auth(), passwords });
      await passwords.held(1);
      const institutionId = lakeside?.institutionId as InstitutionId;
      await setStanding(auth(), institutionId, { name: 'fern.joint', ...change, origin: ownOrigin() });
      passwords.letGo(right['fern.joint']);
      assert.equal(await good, refused);
      const back = { active: true, lockedByOperator: false };
      await setStanding(auth(), institutionId, { name: 'fern.joint', ...back, origin: ownOrigin() });
      assert.equal(await login('fern.joint', right['fern.joint']), 'ok');
    });
  }
});

test('accepts all of ten right passwords sent together with four wrong ones', async () => {
  const username = 'cedar.owner';
  const tries = [...Array(10).fill(right[username]), ...Array(4).fill('wrong')];
  const results = await Promise.all(tries.map((password) => login(username, password)));
  assert.deepEqual(results, [...Array(10).fill('ok'), ...Array(4).fill(refused)]);
});

test('a storm of one client’s logins delays no other client', async () => {
  const passwords = new HeldHasher();
  const logins = new CountedQueue(1, 64, tooManyLogins);
  const deps = { ...auth(), passwords, logins };
  const ended: string[] = [];
  const note = (result: string) => ended.push(result);
  const storm = Array.from({ length: 12 }, (_none, n) => login(`nobody.at.${n}`, 'storm', deps).then(note));
  await until(() => logins.asked === 12);
  const other = login('demo.member', 'harbor-member-password', deps, 'harbor-app').then(note);
  await until(() => logins.asked === 13);
  await until(() => {
    for (const password of ['storm', 'harbor-member-password']) passwords.letGo(password);
    return ended.length === 13;
  });
  await Promise.all([...storm, other]);
  // Only the login under way and one more came before it.
  assert.equal(ended.indexOf('ok'), 2, ended.join(' '));
});

test('ends a lock after 15 minutes, and continues the count with the next wrong password', async () => {
  const username = 'hazel.signer';
  for (let n = 0; n < 5; n += 1) assert.equal(await login(username, 'wrong'), refused);
  assert.equal(await login(username, right[username]), refused);
  now = new Date(now.getTime() + 15 * 60_000 - 1);
  assert.equal(await login(username, right[username]), refused);
  now = new Date(now.getTime() + 1);
  assert.equal(await login(username, 'wrong'), refused);
  assert.equal((await userOf(username)).failed_logins, 6);
  assert.equal(await login(username, right[username]), 'ok');
  assert.equal((await userOf(username)).failed_logins, 0);
});

describe('wrong passwords in a row', () => {
  const username = 'sage.card';
  const password = 'sage-card-lantern-16';
  const lockedMinutes = async () =>
    ((await userOf(username)).locked_until?.getTime() ?? now.getTime()) / 60_000 - now.getTime() / 60_000;
  const afterTheLock = async () => {
    now = (await userOf(username)).locked_until ?? now;
  };

  test('doubles the lock at each fifth wrong password in a row, up to a day', async () => {
    const minutes: number[] = [];
    for (let fives = 1; fives <= 9; fives += 1) {
      for (let n = 0; n < 5; n += 1) await login(username, 'wrong');
      minutes.push(await lockedMinutes());
      await afterTheLock();
    }
    assert.deepEqual(minutes, [15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
    assert.equal(await login(username, password), 'ok');
    for (let n = 0; n < 5; n += 1) await login(username, 'wrong');
    assert.equal(await lockedMinutes(), 15, 'the right password starts the count again');
    await afterTheLock();
  });

  test('disables the password at the hundredth wrong one, and keeps the member’s session and a new activation', async () => {
    await login(username, password);
    const session = await memberOf(service, username, password);
    await service.db.superuser('update users set failed_logins = 99 where username = $1', [username]);
    assert.equal(await login(username, 'wrong'), refused);
    assert.equal((await userOf(username)).failed_logins, 100);
    assert.equal((await session.get(paths.accounts)).status, 200);
    await afterTheLock();
    assert.equal(await login(username, password), refused);

    const lakeside = await auth().database.directory((db) => findInstitutionByCode(db, 'lakeside'));
    const institutionId = lakeside?.institutionId as InstitutionId;
    const events = await service.db.superuser<{ kind: string }>(
      `select kind from outbox where kind like 'member.password%' and institution_id = $1`,
      [institutionId],
    );
    assert.deepEqual(events, [{ kind: 'member.password_ended' }]);
    await setStanding(auth(), institutionId, {
      name: username,
      lockedByOperator: false,
      origin: ownOrigin(),
    });
    assert.equal(await login(username, password), refused, 'unlocking revives no password');
    await assert.rejects(
      service.db.superuser('update users set failed_logins = 0 where username = $1', [username]),
      /has expired/,
    );

    const issued = await reissueActivation(auth(), institutionId, { name: username, origin: ownOrigin() });
    const actor = { kind: 'client', institutionId, clientId: 'demo-app' } as const;
    const activation = {
      activationCode: issued?.code ?? '',
      username,
      password: 'seven lanterns by the lake',
    };
    await activateMember({ ...auth(), depositOpening: async () => {} }, actor, {
      ...activation,
      origin: ownOrigin(),
    });
    assert.equal(await login(username, activation.password), 'ok');
    await assert.rejects(
      service.db.superuser('update users set token_epoch = 0 where username = $1', [username]),
      /tokens of user \d+ are revoked/,
      'no tokens from before come back',
    );
  });
});

test('replaces a hash with older parameters at the next login with the right password', async () => {
  const username = 'juniper.two';
  const password = right[username];
  const old = await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
  await service.db.superuser('update users set password_hash = $1 where username = $2', [old, username]);
  assert.equal(await login(username, 'wrong'), refused);
  assert.equal((await userOf(username)).password_hash, old);
  assert.equal(await login(username, password), 'ok');
  const renewed = (await userOf(username)).password_hash;
  assert.match(renewed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await login(username, password), 'ok');
  assert.equal((await userOf(username)).password_hash, renewed);
});

test('refuses an operator’s command whose name matches two users, by username and by user id', async () => {
  const { institutionId } = (await auth().database.directory((db) =>
    findInstitutionByCode(db, 'lakeside'),
  )) as { institutionId: InstitutionId };
  const rename = (from: string, to: string) =>
    service.db.superuser('update users set username = $2 where username = $1', [from, to]);
  await rename('sage.card', 'u-ivy-shared');
  for (const name of ['u-ivy-shared', 'U-Ivy-Shared'] as const) {
    const change = { lockedByOperator: true };
    const done = await setStanding(auth(), institutionId, { name, ...change, origin: ownOrigin() });
    // User ids are case-sensitive, so the second name matches a username only.
    assert.equal(done, name === 'u-ivy-shared' ? 'no_such_user' : 'changed');
  }
  assert.equal(await login('ivy.shared', 'ivy-shared-lantern-14'), 'ok');
  await setStanding(auth(), institutionId, {
    name: 'u-sage-card',
    lockedByOperator: false,
    origin: ownOrigin(),
  });
  await rename('u-ivy-shared', 'sage.card');
});

describe('login pauses', () => {
  /** The service's own deps, with pauses that only record their length. */
  function watched() {
    const asked: string[] = [];
    const failures = new Map<string, number>();
    const loginBackoff = {
      wait: async (key: string) => {
        asked.push(`${key.length} ${failures.get(key) ?? 0}`);
      },
      failed: (key: string) => failures.set(key, (failures.get(key) ?? 0) + 1),
      succeeded: (key: string) => failures.delete(key),
    };
    return { asked, deps: { ...auth(), loginBackoff: loginBackoff as unknown as AuthDeps['loginBackoff'] } };
  }

  test('pauses grow alike for existing and unknown names, in any case', async () => {
    const { asked, deps } = watched();
    for (const name of ['rowan.owner', 'Rowan.Owner', 'ROWAN.OWNER']) await login(name, 'wrong', deps);
    const known = asked.splice(0);
    for (const name of ['nobody.here', 'Nobody.Here', 'NOBODY.HERE']) await login(name, 'wrong', deps);
    assert.deepEqual(asked, known);
    assert.deepEqual(known, ['44 0', '44 1', '44 2']);
  });

  test('counts letters that are equal only by Unicode lower case as different names for pauses', async () => {
    const username = 'juniper.two';
    for (const name of ['jun\u0130per.two', 'jun\u0131per.two', '\uFF4Auniper.two']) {
      assert.equal(await login(name, right[username]), refused, name);
    }
    assert.equal(await login('JUNIPER.Two', right[username]), 'ok');
  });

  test('ends the pause after the right password', async () => {
    const { asked, deps } = watched();
    await login('rowan.owner', 'wrong', deps);
    assert.equal(await login('rowan.owner', right['rowan.owner'], deps), 'ok');
    await login('rowan.owner', right['rowan.owner'], deps);
    assert.deepEqual(asked, ['44 0', '44 1', '44 0']);
  });

  test('waits for the pause, and then responds as without it', async () => {
    await using slow = await startTestService({
      beside: service,
      environment: { FAILED_LOGIN_PAUSE_MILLIS: '150' },
    });
    const deps = slow.service.context.auth;
    assert.equal(await login('nobody.at.all', 'wrong', deps), refused);
    const started = performance.now();
    assert.equal(await login('nobody.at.all', 'wrong', deps), refused);
    assert.equal(await login('nobody.at.all', 'wrong', deps), refused);
    // 150 and 300; a timer may be a millisecond early.
    assert.ok(performance.now() - started > 440);
  });
});

describe('indistinguishable login failures', () => {
  const kinds: Readonly<Record<string, readonly [username: string, password: string]>> = {
    unknown: ['nobody.of.this.name', 'whatever it may be'],
    wrong: ['rowan.owner', 'whatever it may be'],
    locked: ['heath.locked', 'heath-lock-lantern-12'],
    'locked and wrong': ['heath.locked', 'whatever it may be'],
    inactive: ['moss.inactive', 'moss-sleep-lantern-13'],
    'inactive and wrong': ['moss.inactive', 'whatever it may be'],
  };
  const forget = () =>
    service.db.superuser('update users set failed_logins = 0, locked_until = null where failed_logins > 0');

  test('responds alike to an unknown user, a wrong password, a locked and an inactive user', async () => {
    for (const [kind, [username, password]] of Object.entries(kinds)) {
      assert.equal(await login(username, password), refused, kind);
    }
  });

  test('runs the same statements, one hash and one durable commit for each kind of failed login', async () => {
    const seen = new Map<string, string[]>();
    for (const [kind, [username, password]] of Object.entries(kinds)) {
      await forget();
      const work: string[] = [];
      const passwords = new PasswordHasher(1);
      const verify = passwords.verify.bind(passwords);
      passwords.verify = (encoded, given) => {
        work.push('hash');
        return verify(encoded, given);
      };
      await login(username, password, { ...auth(), passwords, database: recording(auth().database, work) });
      seen.set(kind, work);
    }
    const expected = ['auth_client', 'members_login', 'hash', 'members_count_failed_login'];
    for (const [kind, work] of seen) assert.deepEqual(work, expected, kind);

    // Each moved the end of the write-ahead log, which only a flushed commit does.
    for (const [kind, [username, password]] of Object.entries(kinds)) {
      await forget();
      await auth().audit.settle();
      const before = await logEnd();
      await login(username, password);
      assert.ok((await logEnd()) > before, kind);
    }
  });

  /**
   * Rounds in which the one took longer than the other: half of them if they take the same time, on any noisy
   * machine. By chance alone the count leaves the bounds once in ten thousand runs.
   */
  test('takes the same time for each kind of failed login: no kind is slower than another in nine of ten rounds', async (t) => {
    const rounds = 30;
    const names = Object.keys(kinds);
    const millis = new Map<string, number[]>(names.map((kind) => [kind, []]));
    for (let round = 0; round < rounds + 2; round += 1) {
      await forget();
      // Each kind has every place in the round, and precedes each other kind, equally often.
      const turned = names.map((_, place) => names[(place * (round % 2 ? 5 : 1) + round) % names.length]);
      for (const kind of turned as string[]) {
        const [username, password] = kinds[kind] ?? ['', ''];
        const started = performance.now();
        await login(username, password);
        // The first two rounds warm up.
        if (round >= 2) millis.get(kind)?.push(performance.now() - started);
      }
    }
    const slower = (one: string, other: string) =>
      (millis.get(one) ?? []).filter((time, round) => time > (millis.get(other)?.[round] ?? 0)).length;
    const found = names.flatMap((one) =>
      names
        .filter((other) => one < other)
        .map((other) => ({ one, other, share: slower(one, other) / rounds })),
    );
    for (const { one, other, share } of found) t.diagnostic(`${one} slower than ${other}: ${share}`);
    for (const { one, other, share } of found) {
      assert.ok(share >= 0.1 && share <= 0.9, `${one} slower than ${other} in ${share} of the rounds`);
    }
  });
});

async function logEnd(): Promise<bigint> {
  const [row] = await service.db.superuser<{ end: bigint }>(
    "select (pg_current_wal_flush_lsn() - '0/0')::bigint as end",
  );
  return row?.end ?? 0n;
}
