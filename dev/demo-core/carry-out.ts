import { type Books, type Cents, type Entry, type Later, type Line, toDecimal } from './books.ts';
import type { Act } from './life.ts';
import { type Day, stamp } from './local-time.ts';

/** An authorization that no one settles ends after this time. */
const authorizationMillis = 7 * 24 * 60 * 60_000;
const returnFee: Cents = 2_800;

interface Occasion {
  readonly at: Date;
  readonly day: Day;
  /** The place of the act in its day's plan. The ids of its lines are made of the day and the place. */
  readonly place: number;
}

type Facts = Omit<Line, 'accountId' | 'amount' | 'currencyCode' | 'postedAt' | 'effectiveDate'>;

/** The entry of an act: its lines if the books allow it, none if they do not. */
export function carryOut(books: Books, act: Act, occasion: Occasion): Entry {
  const { day, place } = occasion;
  const at = stamp(occasion.at, books.zone);
  const id = `c-${day.replaceAll('-', '')}-${String(place).padStart(5, '0')}`;
  const entry = { at, act: { day, place } };
  const line = (accountId: string, cents: Cents, rest: Facts) => ({
    accountId,
    amount: toDecimal(cents),
    currencyCode: books.accounts.get(accountId)?.currencyCode ?? '',
    postedAt: at,
    effectiveDate: day,
    ...rest,
  });

  switch (act.does) {
    case 'post': {
      const { accountId, cents, kind, description, category, checkNumber, isReturnedWithFee } = act;
      if (cents > 0 || -cents <= (books.available(accountId) ?? 0)) {
        const facts = {
          id,
          kind,
          description,
          ...(category && { category }),
          ...(checkNumber && { checkNumber }),
        };
        return { ...entry, lines: [line(accountId, cents, facts)] };
      }
      if (!isReturnedWithFee) return entry;
      const fee = { id, kind: 'FEE', description: `Returned: ${description}`, category: 'FEES' };
      return { ...entry, lines: [line(accountId, -returnFee, fee)] };
    }
    case 'move': {
      const { fromAccountId, toAccountId, kind, description } = act;
      const cents = act.cents === 'owed' ? -(books.accounts.get(toAccountId)?.balance ?? 0) : act.cents;
      if (cents <= 0 || cents > (books.available(fromAccountId) ?? 0)) return entry;
      return {
        ...entry,
        lines: [
          line(fromAccountId, -cents, { id: `${id}-d`, kind, description }),
          line(toAccountId, cents, { id: `${id}-c`, kind, description }),
        ],
      };
    }
    case 'call': {
      const { personId, phoneNumber } = act;
      return {
        ...entry,
        records: [{ record: 'person', changedAt: at, personId, phoneNumber, phoneType: 'MOBILE' }],
      };
    }
    case 'open': {
      const { fromAccountId, cents } = act;
      const from = books.accounts.get(fromAccountId);
      if (from?.personId === undefined || cents > (books.available(fromAccountId) ?? 0)) return entry;
      const { memberNumber, personId, currencyCode } = from;
      const accountId = `${fromAccountId.replace(/-checking$/, '')}-club`;
      const description = 'Vacation Club';
      const common = { accountId, memberNumber, type: 'SAVINGS' };
      const facts = { kind: 'TRANSFER', description: 'Opening of Vacation Club' };
      return {
        ...entry,
        account: { ...common, personId, openedOn: day, currencyCode, floor: 0, isClosed: false, opening: 0 },
        records: [
          {
            record: 'account',
            changedAt: at,
            ...common,
            accountNumber: `${memberNumber}-60`,
            description,
            currency: currencyCode,
            holders: [{ personId, role: 'PRIMARY', mayPay: true }],
          },
        ],
        lines: [
          line(fromAccountId, -cents, { id: `${id}-d`, ...facts }),
          { ...line(accountId, cents, { id: `${id}-c`, ...facts }), currencyCode },
        ],
      };
    }
    case 'earn': {
      const { accountId, kind, basisPoints, description } = act;
      const cents = Math.round(((books.accounts.get(accountId)?.balance ?? 0) * basisPoints) / 10_000 / 12);
      // A debt grows by its interest; a deposit that is overdrawn earns nothing.
      if (kind === 'DIVIDEND' ? cents <= 0 : cents >= 0) return entry;
      return { ...entry, lines: [line(accountId, cents, { id, kind, description })] };
    }
    case 'authorize': {
      const { accountId, cents, merchant } = act;
      if (cents > (books.available(accountId) ?? 0)) return entry;
      const { name, category } = merchant;
      const facts = { kind: 'CARD', description: name, merchant: name, category } as const;
      const expiresAt = stamp(new Date(occasion.at.getTime() + authorizationMillis), books.zone);
      const authorized = {
        ...line(accountId, -cents, { id, ...facts }),
        status: 'AUTHORIZED',
        expiresAt,
      } as const;
      return { ...entry, lines: [authorized], later: futureOf(act, occasion, { books, authorized }) };
    }
  }
}

/** The lines to come for an authorization: its settlement, change or release. */
function futureOf(
  act: Extract<Act, { does: 'authorize' }>,
  { at }: Occasion,
  { books, authorized }: { readonly books: Books; readonly authorized: Line },
): Later[] {
  const after = (minutes: number) => stamp(new Date(at.getTime() + minutes * 60_000), books.zone);
  const { id: authorizationId, status: _, expiresAt = '', ...facts } = authorized;
  const later = (moment: string, change: Partial<Line> & Pick<Line, 'id'>): Later => ({
    at: moment,
    authorizationId,
    line: { ...facts, postedAt: moment, effectiveDate: moment.slice(0, 10), ...change },
  });
  const amount = toDecimal(-act.finalCents);
  const settles = later(after(act.afterMinutes), { id: `${authorizationId}-s`, authorizationId, amount });
  switch (act.ends) {
    case 'SETTLES':
      return [settles];
    case 'CHANGES': {
      const status = 'CHANGED';
      return [
        later(after(act.afterMinutes / 4), { id: authorizationId, status, amount, expiresAt }),
        settles,
      ];
    }
    case 'IS_RELEASED':
      return [later(after(act.afterMinutes / 2), { id: authorizationId, status: 'RELEASED' })];
    case 'EXPIRES':
      return [{ at: expiresAt, authorizationId }];
  }
}
