import { randomUUID } from 'node:crypto';
import { appendAudit } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import { inBatches, isRefusal, type Line, type Refusal } from '../intake/lines.ts';
import {
  type Answer,
  auditEntryOf,
  checkToken,
  type Delivery,
  type DeliveryDeps,
} from '../intake/take-delivery.ts';
import { selectOpenBreaks } from './break-queries.ts';
import {
  allowNestedLoops,
  countStaged,
  lockComparisons,
  rangesOfAccounts,
  saveComparison,
  selectDiffering,
  selectDifferingPostings,
  selectNewestComparison,
  selectStagedAmong,
  selectTwins,
} from './compare-queries.ts';
import { decideBreaks, differenceOf } from './decide-breaks.ts';
import { type BalanceLine, type BalanceLines, isPosting } from './delivery/balance-line.ts';
import { addBalances, addPostings, clearStage } from './delivery/stage-queries.ts';
import { writeBreaks } from './write-breaks.ts';

export interface CompareRequest {
  /** The moment of the balances. */
  readonly asOf: Date;
  /** The beginning of the core's list of postings, if there is one. */
  readonly since: Date;
  /** Accounts that the delivery does not have are missing at the core. */
  readonly isComplete: boolean;
}

/** Numbers of accounts, and of breaks. */
export interface ComparisonReport {
  readonly accounts: number;
  readonly postings: number;
  readonly inFlight: number;
  readonly differing: number;
  readonly opened: number;
  readonly changed: number;
  readonly closed: number;
  readonly refused: number;
}

/** So many differences are no differences of single accounts: the file is of another day, sign or institution. */
const mostDifferences = 10_000;

export class TooManyDifferencesError extends Error {
  override readonly name = 'TooManyDifferencesError';
  constructor() {
    super(
      `More than ${mostDifferences} accounts or postings differ, so nothing was changed. Check the moment, the sign and the institution of the balances.`,
    );
  }
}

const linesAtOnce = 10_000;
const accountsAtOnce = 100_000;
const abandonedMillis = 60 * 60_000;

/**
 * Compares the core's balances as of a moment with those here, and opens, changes and closes breaks. Yields the lines that are
 * refused; with refused ones, no account counts as missing at the core. The same delivery again changes nothing. Nothing is compared
 * before the delivery has ended, and nothing is written unless all of it was compared.
 *
 * Problem `invalid_request` if the moment is in the future or before that of the newest comparison, `invalid_token` if the token
 * ended meanwhile, `overloaded` while another comparison runs; TooManyDifferencesError.
 */
export async function* compareBalances(
  deps: DeliveryDeps,
  delivery: Delivery,
  request: CompareRequest,
  lines: BalanceLines,
): AsyncGenerator<readonly Answer[], ComparisonReport> {
  const { database, clock, businessTime } = deps;
  const { institutionId } = delivery.institution;
  const key = randomUUID();
  const now = () => businessTime(institutionId, clock());
  if (request.asOf > now()) throw wrongMoment('Must not be in the future.');
  refuseOlder(await database.read(institutionId, selectNewestComparison), request.asOf);
  let refused = 0;
  try {
    for await (const together of inBatches(lines, linesAtOnce)) {
      if (deps.isStopping?.()) throw new Problem('shutting_down', 'The service is about to stop.');
      const answers = await stage(deps, delivery, { key, lines: together });
      refused += answers.length;
      if (answers.length > 0) yield answers;
    }
    const isComplete = request.isComplete && refused === 0;
    const report = await database.transaction(institutionId, (tx) =>
      compareStaged(deps, tx, { delivery, key, request: { ...request, isComplete }, at: now() }),
    );
    return { ...report, refused };
  } finally {
    const abandoned = new Date(clock().getTime() - abandonedMillis);
    // The next comparison deletes the rest after a failure.
    await clearStage(database, institutionId, { delivery: key, abandoned }).catch(() => {});
  }
}

function wrongMoment(detail: string): Problem {
  return new Problem('invalid_request', 'The moment of the balances does not fit.', {
    errors: [{ pointer: 'asOf', detail }],
  });
}

function refuseOlder(newest: Date | undefined, asOf: Date): void {
  if (newest !== undefined && asOf < newest) {
    throw wrongMoment(`Balances as of ${newest.toISOString()} were compared already; older ones are not.`);
  }
}

/** Stages the lines. Returns those that are refused. */
async function stage(
  { database, clock }: DeliveryDeps,
  { institution: { institutionId } }: Delivery,
  { key, lines }: { readonly key: string; readonly lines: readonly Line<BalanceLine>[] },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const refuse = (line: number, refusal: Refusal) => answers.push({ line, result: 'refused', ...refusal });
  const items = lines.flatMap(({ line, item }) => {
    if (!isRefusal(item)) return [{ line, item }];
    refuse(line, item);
    return [];
  });
  const balances = items.flatMap(({ item }) => (isPosting(item) ? [] : [item]));
  const postings = items.flatMap(({ item }) => (isPosting(item) ? [item] : []));
  const at = clock();
  const [newAccounts, newIds] = await database.transaction(institutionId, (tx) =>
    Promise.all([
      balances.length === 0 ? new Set<string>() : addBalances(tx, key, balances, at),
      postings.length === 0 ? new Set<string>() : addPostings(tx, key, postings, at),
    ]),
  );
  if (newAccounts.size + newIds.size < items.length) {
    for (const { line, item } of items) {
      const isNew = isPosting(item) ? newIds.delete(item.coreId) : newAccounts.delete(item.accountId);
      if (!isNew) {
        refuse(line, {
          code: 'line_repeated',
          detail: 'An earlier line of the delivery has this account or id.',
        });
      }
    }
  }
  return answers.toSorted((one, other) => one.line - other.line);
}

async function compareStaged(
  deps: DeliveryDeps,
  tx: Transaction,
  compared: {
    readonly delivery: Delivery;
    readonly key: string;
    readonly request: CompareRequest;
    readonly at: Date;
  },
): Promise<Omit<ComparisonReport, 'refused'>> {
  const { delivery, key, at, request } = compared;
  const { asOf, since, isComplete } = request;
  await lockComparisons(tx);
  refuseOlder(await selectNewestComparison(tx), asOf);
  await checkToken(deps, tx, delivery);
  const staged = await countStaged(tx, key);
  const limit = mostDifferences + 1;
  const accounts = [];
  if (staged.balances > 0) {
    await allowNestedLoops(tx, false);
    for await (const range of rangesOfAccounts(tx, accountsAtOnce)) {
      accounts.push(...(await selectDiffering(tx, { delivery: key, asOf, isComplete, range, limit })));
      if (accounts.length > mostDifferences) throw new TooManyDifferencesError();
    }
    await allowNestedLoops(tx, true);
  }
  const postings =
    staged.postings > 0 ? await selectDifferingPostings(tx, { delivery: key, asOf, since, limit }) : [];
  if (postings.length > mostDifferences) throw new TooManyDifferencesError();
  const doubled = accounts.flatMap((account) =>
    account.accountKey === null
      ? []
      : [{ accountKey: account.accountKey, amountMinor: -differenceOf(account) }],
  );
  const open = await selectOpenBreaks(tx);
  const listed = await selectStagedAmong(tx, key, [...new Set(open.map(({ accountId }) => accountId))]);
  const decision = decideBreaks({
    asOf,
    accounts,
    postings,
    open,
    twins: await selectTwins(tx, doubled, { asOf, limit: mostDifferences }),
    isCompared: (accountId) => staged.balances > 0 && (isComplete || listed.has(accountId)),
  });
  const written = await writeBreaks(tx, decision, { at });
  const { inFlight, differing } = decision;
  await saveComparison(tx, { asOf, at, accounts: staged.balances, inFlight, differing });
  const report = { accounts: staged.balances, postings: staged.postings, inFlight, differing, ...written };
  const entry = {
    ...auditEntryOf(delivery),
    action: 'core.balances_compared',
    after: { asOf, ...report },
  } as const;
  await appendAudit(tx, entry, deps.clock());
  return report;
}
