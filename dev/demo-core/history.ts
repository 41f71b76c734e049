import { type Account, Books, type Entry, type Line, toDecimal } from './books.ts';
import { openingBalance } from './life.ts';
import { dayOf, stamp } from './local-time.ts';
import { Schedule } from './schedule.ts';

/**
 * The beginning of the journal: the accounts, their balances, and the days before the core went on the air. An authorization that
 * ended in those days is news no more: only its posting is told.
 */
export function history({
  seed,
  zone,
  accounts,
  begin,
  end,
}: {
  readonly seed: string;
  readonly zone: string;
  readonly accounts: readonly Account[];
  readonly begin: Date;
  readonly end: Date;
}): Entry[] {
  const at = stamp(begin, zone);
  const entries: Entry[] = [
    { at, opened: { seed, zone, accounts } },
    { at, lines: openings() },
  ];
  const books = new Books();
  for (const entry of entries) books.apply(entry);
  const schedule = new Schedule(books, begin);
  for (let next = schedule.next(end); next !== undefined; next = schedule.next(end)) {
    books.apply(next);
    entries.push(next);
  }
  return entries.map(({ lines, ...entry }) => ({
    ...entry,
    ...(lines && {
      lines: lines.flatMap((line): Line[] => {
        if (line.status === undefined) return [{ ...line, historic: true }];
        return books.isHeld(line.id) ? [line] : [];
      }),
    }),
  }));

  /** An account with a balance in the extract has it at the service too. */
  function openings(): Line[] {
    return accounts.flatMap((account, index) => {
      const { cents, description } = openingBalance(seed, account);
      if (account.opening !== 0 || account.isClosed || cents === 0) return [];
      return [
        {
          id: `c-opening-${String(index).padStart(5, '0')}`,
          accountId: account.accountId,
          amount: toDecimal(cents),
          currencyCode: account.currencyCode,
          kind: 'ADJUSTMENT',
          postedAt: at,
          effectiveDate: dayOf(begin, zone),
          description,
        },
      ];
    });
  }
}
