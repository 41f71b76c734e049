import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeMoves, type MoveTrace } from './moves.ts';

const institution: MoveTrace = {
  ...{ kind: 'institution', name: 'pine', code: 'pine', served: 'left', otherCell: 'west' },
  ...{ isUnderWay: false, keptBytes: null },
};
const slot: MoveTrace = { ...institution, kind: 'slot', name: 'sharedraft_move_5_7', keptBytes: 3_500_000n };
const publication: MoveTrace = { ...institution, kind: 'publication', name: 'sharedraft_move_7' };
const subscription: MoveTrace = { ...institution, kind: 'subscription', name: 'sharedraft_move_9_7' };
const as = (change: Partial<MoveTrace>, ...traces: readonly MoveTrace[]) =>
  traces.map((trace) => ({ ...trace, ...change }));

const cases: readonly (readonly [
  string,
  readonly MoveTrace[],
  verdict: string,
  detail: RegExp,
  cure: RegExp,
])[] = [
  [
    'a copy that is kept',
    [institution],
    'warning',
    /went to the cell "west", and its copy is kept/,
    /--to west --confirm/,
  ],
  [
    'a move that was not tidied',
    [institution, slot],
    'problem',
    /Left: slot sharedraft_move_5_7, which keeps 4 MB of the log/,
    /^Repeat "sharedraft institution move pine --to west"/,
  ],
  [
    'an institution that is closed in a move',
    as({ served: 'leaving' }, institution),
    'problem',
    /closed in the middle of its move to "west"/,
    /--undo/,
  ],
  [
    'one that arrives',
    as({ served: 'arriving' }, institution, subscription),
    'warning',
    /comes from the cell "west".*Left: subscription sharedraft_move_9_7/,
    /repeat it there/,
  ],
  [
    'a move that never closed',
    as({ served: 'here', otherCell: null }, publication, slot),
    'problem',
    /interrupted before its pause/,
    /--to CELL/,
  ],
  [
    'one that has arrived with its subscription',
    as({ served: 'here', otherCell: null }, subscription),
    'problem',
    /It has arrived/,
    /in the cell that it left/,
  ],
  [
    'a slot of one that is gone',
    as({ served: 'gone' }, slot),
    'problem',
    /that ended left the slot/,
    /select pg_drop_replication_slot\('sharedraft_move_5_7'\)$/,
  ],
  [
    'a publication of one that is unknown',
    as({ code: null, served: null }, publication),
    'problem',
    /left the publication/,
    /drop publication sharedraft_move_7$/,
  ],
  [
    'a forgotten subscription',
    as({ code: null, served: null }, subscription),
    'problem',
    /left the subscription/,
    /set \(slot_name = none\); drop subscription sharedraft_move_9_7$/,
  ],
];

for (const [what, traces, verdict, detail, cure] of cases) {
  test(`judges ${what}, with a cure`, () => {
    const [finding, ...others] = judgeMoves(traces);
    assert.deepEqual(others, []);
    assert.equal(finding?.verdict, verdict);
    assert.match(finding.detail, detail);
    assert.match(finding.cure ?? '', cure);
  });
}

test('finds nothing wrong without a move, and while a command is at work', () => {
  assert.deepEqual(
    judgeMoves([]).map(({ verdict }) => verdict),
    ['ok'],
  );
  const atWork = judgeMoves(as({ served: 'leaving', isUnderWay: true }, institution, slot));
  assert.deepEqual(
    atWork.map(({ verdict }) => verdict),
    ['ok'],
  );
});
