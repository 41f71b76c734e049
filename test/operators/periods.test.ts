import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addDays, localDate } from '../../src/institutions/index.ts';
import { memberOf, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The period of the searches for transfers and in the audit, by days and times of the institution and by instants. */

let service: TestService;
let auditor: TestOperator;
let timeZone: string;
/** The moment of an order, and its day at the institution. */
let at: Date;
let day: string;
before(async () => {
  service = await startTestService({ environment: demoAddress });
  auditor = await operatorOf(service, 'Demo auditor');
  ({ timeZone } = (await auditor.get('/session')).body.institution);
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.25 };
  for (const id of ['before-it', 'beside-it', 'of-a-period'])
    assert.equal((await member.post(paths.transfers, { id, ...order })).status, 201);
  const { body } = await auditor.get('/transfers/of-a-period');
  at = new Date(body.createdAt);
  day = localDate(at, timeZone);
});
after(() => service.close());

const search = (path: string, query: Readonly<Record<string, string>>) =>
  auditor.get(`${path}?${new URLSearchParams(query)}`);

async function isFound(query: Readonly<Record<string, string>>): Promise<boolean> {
  const { status, body } = await search('/transfers', { accountId: 'a-1001-checking', ...query });
  assert.equal(status, 200, JSON.stringify(body));
  return body.some(({ id }: { id: string }) => id === 'of-a-period');
}

/** The minute of the order on the clocks of the institution, and those around it. */
function minute(shift: number): string {
  const moved = new Date(at.getTime() + shift * 60_000);
  return moved.toTemporalInstant().toZonedDateTimeISO(timeZone).toPlainDateTime().toString().slice(0, 16);
}

test('a search for transfers finds an order in its day, its minute and its millisecond alone', async () => {
  const instant = (shift: number) => new Date(at.getTime() + shift).toISOString();
  const found = [
    {},
    { since: day },
    { until: day },
    { since: day, until: day },
    { since: addDays(day, -1), until: addDays(day, 1) },
    { since: minute(0), until: minute(1) },
    { since: minute(0), until: day },
    { since: instant(0), until: instant(1) },
    { status: 'COMPLETED', since: day },
  ];
  for (const query of found) assert.ok(await isFound(query), JSON.stringify(query));
  const missed = [
    { since: addDays(day, 1) },
    { until: addDays(day, -1) },
    { since: addDays(day, -3), until: addDays(day, -1) },
    { since: minute(1) },
    { until: minute(0) },
    { since: instant(1) },
    { until: instant(0) },
    { status: 'PENDING', since: day },
    { transferType: 'LOAN_PAYMENT', since: day },
  ];
  for (const query of missed) assert.ok(!(await isFound(query)), JSON.stringify(query));
});

test('a search of the audit has the entries of its period', async () => {
  const { body } = await search('/audit', { action: 'transfer.read', subject: 'of-a-period' });
  const [{ at: read, key }] = body;
  const readOn = localDate(new Date(read), timeZone);
  const keys = async (query: Readonly<Record<string, string>>) => {
    const answer = await search('/audit', { action: 'transfer.read', ...query });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.map((entry: { key: number }) => entry.key);
  };
  const later = new Date(new Date(read).getTime() + 1).toISOString();
  for (const query of [{ since: readOn, until: readOn }, { since: read, until: later }, { until: readOn }])
    assert.ok((await keys(query)).includes(key), JSON.stringify(query));
  for (const query of [
    { since: addDays(readOn, 1) },
    { until: addDays(readOn, -1) },
    { until: read },
    { since: later },
  ])
    assert.ok(!(await keys(query)).includes(key), JSON.stringify(query));
});

test('both searches refuse a period that is none, and name the parameter', async () => {
  for (const path of ['/transfers', '/audit']) {
    const pointerOf = async (query: Readonly<Record<string, string>>) => {
      const { status, body } = await search(path, query);
      assert.equal(status, 400, JSON.stringify(body));
      return body.errors[0].pointer;
    };
    assert.equal(await pointerOf({ since: '2026-11-21', until: '2026-11-20' }), 'until');
    assert.equal(await pointerOf({ since: '2026-11-20T10:00', until: '2026-11-20T10:00' }), 'until');
    assert.equal(await pointerOf({ since: '2026-02-29' }), 'since');
    assert.equal(await pointerOf({ until: 'tomorrow' }), 'until');
    assert.equal(await pointerOf({ since: 'x'.repeat(41) }), 'since');
  }
});

test('the pages of a period join without a gap, and a position is bound to its period', async () => {
  const query = { limit: '1', since: addDays(day, -1), until: new Date(at.getTime() + 1).toISOString() };
  const first = await search('/transfers', query);
  const position = /after=([\w-]+)/.exec(first.headers.get('link') ?? '')?.[1];
  assert.ok(position !== undefined);
  const other = await search('/transfers', { ...query, since: addDays(day, -2), after: position });
  assert.equal(other.status, 400);
  const whole = (await search('/transfers', { ...query, limit: '200' })).body.map(
    ({ id }: { id: string }) => id,
  );
  const joined: string[] = [];
  for (let next: string | undefined, page = 0; page <= whole.length; page += 1) {
    const answer = await search('/transfers', { ...query, ...(next && { after: next }) });
    joined.push(...answer.body.map(({ id }: { id: string }) => id));
    next = /after=([\w-]+)/.exec(answer.headers.get('link') ?? '')?.[1];
    if (next === undefined) break;
  }
  assert.deepEqual(joined, whole);
  assert.ok(joined.length >= 3);
});
