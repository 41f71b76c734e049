import { coreShapes } from '../extract/extract.ts';
import { selectUnheldAccounts } from './check-queries.ts';
import { type SoundStage, unheldNamed } from './check-stage.ts';
import { forEachRange, type Staging } from './ranges.ts';
import {
  countRejects,
  type RejectedRow,
  rejectOfHolders,
  rejectOfMembers,
  selectRejects,
  unstageHolders,
  unstageMembers,
  unstagePersons,
} from './reject-queries.ts';
import type { RejectedRows } from './rejected-rows.ts';

/*
 * A rejected row takes along the rows that depend on it: a person the persons of memberships; one of these its membership, which goes
 * in with all its persons or not at all; a membership its accounts; a holder the account, which goes in with all its holders or not at
 * all. Otherwise the merge would take a missing person or holder for one who left.
 */

const rowsAtOnce = 5_000;

/** Rejects the rows that depend on rejected ones, and removes them all from the stage. Returns the contents that are left. */
export async function unstageRejected(staging: Staging, rejects: RejectedRows): Promise<SoundStage> {
  await staging.session.transaction(staging.institutionId, (tx) => rejects.save(tx));
  await forEachRange(staging, { key: 'members', rows: rowsAtOnce }, rejectOfMembers);
  let [persons, members, memberPersons, accounts, holders, figures] = [0, 0, 0, 0, 0, 0];
  await forEachRange(staging, { key: 'holders', rows: rowsAtOnce }, async (tx, range) => {
    await rejectOfHolders(tx, range);
    holders += await unstageHolders(tx, range);
  });
  await forEachRange(staging, { key: 'persons', rows: rowsAtOnce }, async (tx, range) => {
    persons += await unstagePersons(tx, range);
  });
  const currencies = new Set<string>();
  const unheld = { count: 0, accountIds: [] as string[] };
  await forEachRange(staging, { key: 'members', rows: rowsAtOnce }, async (tx, range) => {
    const left = await unstageMembers(tx, range);
    members += left.members;
    memberPersons += left.memberPersons;
    accounts += left.accounts;
    figures += left.figures;
    for (const currency of left.currencies) currencies.add(currency);
    const found = await selectUnheldAccounts(tx, range);
    unheld.count += found.length;
    unheld.accountIds.push(...found.slice(0, unheldNamed - unheld.accountIds.length));
  });
  return { contents: { persons, members, memberPersons, accounts, holders, figures, currencies }, unheld };
}

const files = coreShapes.map(({ file }) => file);

/** The number of rejected rows by file, without files that have none. */
export async function countRejected({ session, institutionId }: Staging): Promise<Record<string, number>> {
  const counts = await session.transaction(institutionId, async (tx) => {
    const all: [string, number][] = [];
    for (const file of files) all.push([file, await countRejects(tx, file)]);
    return all;
  });
  return Object.fromEntries(counts.filter(([, rows]) => rows > 0));
}

/** The errors of the rejected rows by file and line, some thousands at a time. */
export async function* listRejected({
  session,
  institutionId,
}: Staging): AsyncGenerator<readonly RejectedRow[]> {
  for (const file of files) {
    let after: RejectedRow | undefined;
    do {
      const last = after;
      const rows = await session.transaction(institutionId, (tx) =>
        selectRejects(tx, file, { after: last, most: rowsAtOnce }),
      );
      if (rows.length > 0) yield rows;
      after = rows.at(-1);
    } while (after !== undefined);
  }
}
