import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { eventually, manualClock } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * One transfer that is held and posts, and one that is held and cancelled, in every reader's view: list, history,
 * balances as of a time, and the feed. At lakeside an INTRA_FI above 1,000.00 is held and posts after 30 seconds.
 */

const hand = manualClock('2026-03-04T15:00:00Z');
let service: TestService;
let app: DemoCaller;
let payer: DemoCaller;
let payee: DemoCaller;
before(async () => {
  service = await startTestService({ clock: hand.clock });
  [app, payer, payee] = await Promise.all([
    clientOf(service),
    memberOf(service, 'demo.member', 'demo-member-password'),
    memberOf(service, 'cedar.owner', 'cedar-red-lantern-3'),
  ]);
});
after(() => service.close());

const source = 'a-1001-checking';
const destination = 'a-1003-checking';
const feed = '/digitalbanking/db-events/v1/events';
// biome-ignore lint/suspicious/noExplicitAny: documents whose shape the contract has just checked
type Document = any;

async function get(caller: DemoCaller, path: string): Promise<Document> {
  const answer = await caller.get(path);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
const listed = (caller: DemoCaller, query: string) => get(caller, `${paths.transfers}?${query}`);
const history = (caller: DemoCaller, account: string, query = '') =>
  get(caller, `${paths.accounts}/${account}/transactions?${query}`);
const balance = async (asOf: Date) =>
  (await get(app, `${paths.accounts}/${source}/balances?asOf=${asOf.toISOString()}`)).balance;

async function events(): Promise<Document[]> {
  const seen: Document[] = [];
  for (let path = `${feed}?limit=200`; ; ) {
    const answer: Answer = await app.get(path);
    if (answer.body.length === 0) return seen;
    seen.push(...answer.body);
    path = /^<http:\/\/sharedraft\.test(.*)>/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
  }
}

test('reads a transfer that is held and posts, and one that is cancelled', async () => {
  const before = hand.clock();
  const opened = await history(payer, source);
  hand.advance(1);
  const order = (id: string) =>
    payer.post(paths.transfers, { id, fromAccountId: source, toAccountId: destination, amount: 1_500.25 });
  const posts = await order('seen-posts');
  assert.equal(posts.body.status, 'PENDING');
  const held = hand.clock();
  hand.advance(1);
  const cancelled = await order('seen-cancelled');
  const both = hand.clock();
  assert.deepEqual(await listed(payer, 'status=PENDING'), [cancelled.body, posts.body]);
  assert.deepEqual(await listed(app, `accountId=${destination}&status=PENDING`), [
    cancelled.body,
    posts.body,
  ]);
  const pending = await history(payer, source, 'status=PENDING');
  assert.deepEqual(
    pending.map((one: Document) => [one.transferId, one.amount.amount, one.isPending]),
    [
      ['seen-cancelled', -1500.25, true],
      ['seen-posts', -1500.25, true],
    ],
  );
  assert.deepEqual(await history(payer, source), [...pending, ...opened]);
  assert.deepEqual(await history(payee, destination, 'status=PENDING'), []);

  hand.advance(1);
  const ended = await payer.post(`${paths.transfers}/seen-cancelled/cancel`, {});
  assert.equal(ended.body.status, 'FAILED', ended.text);
  assert.deepEqual(await history(payer, source), [pending[1], ...opened], 'it leaves nothing');
  assert.deepEqual(await listed(payer, 'status=FAILED'), [ended.body]);

  hand.advance(60);
  const done = await eventually(
    () => listed(payer, 'status=COMPLETED'),
    (list) => list.length > 0,
  );
  assert.deepEqual(done, [{ ...posts.body, status: 'COMPLETED' }]);
  assert.deepEqual(await listed(payer, 'status=PENDING'), []);
  const [posted, ...rest] = await history(payer, source);
  assert.deepEqual(rest, opened);
  assert.equal(posted.id, pending[1].id, 'the same transaction');
  assert.equal(posted.isPending, false);
  const [received] = await history(payee, destination);
  assert.equal(received.amount.amount, 1500.25);
  assert.ok(!('transferId' in received));

  const figures = async (at: Date) => {
    const { availableBalance, currentBalance } = await balance(at);
    return [availableBalance.amount, currentBalance.amount];
  };
  const [start = 0] = await figures(before);
  const less = (amount: number) => Math.round((start - amount) * 100) / 100;
  assert.deepEqual(await figures(before), [start, start]);
  assert.deepEqual(await figures(held), [less(1500.25), start]);
  assert.deepEqual(await figures(both), [less(3000.5), start]);
  assert.deepEqual(await figures(hand.clock()), [less(1500.25), less(1500.25)]);

  const seenEvents = await eventually(events, (seen) =>
    seen.some((event) => event.eventType === 'transfer.completed' && event.transfer.id === 'seen-posts'),
  );
  const lifeOf = (id: string) =>
    seenEvents
      .filter((event) => event.transfer?.id === id)
      .map((event) => [event.eventType, event.transfer.status, event.transfer.failureCode]);
  assert.deepEqual(lifeOf('seen-posts'), [
    ['transfer.pending', 'PENDING', undefined],
    ['transfer.completed', 'COMPLETED', undefined],
  ]);
  assert.deepEqual(lifeOf('seen-cancelled'), [
    ['transfer.pending', 'PENDING', undefined],
    ['transfer.failed', 'FAILED', 'transfer_cancelled'],
  ]);
  for (const account of [source, destination]) {
    const numbers = seenEvents.flatMap((event) =>
      event.accounts.flatMap((one: Document) => (one.accountId === account ? [one.sequence] : [])),
    );
    assert.deepEqual(numbers, [1, 2, 3, 4, 5], `${account}: opened, held twice, released, posted`);
  }
});
