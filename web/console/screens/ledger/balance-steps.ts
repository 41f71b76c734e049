import { compareAmounts, shareOf } from '../../../design/format/money.ts';

interface Balance {
  /** The moment at which the balance was this. */
  readonly before: string;
  readonly balance: string;
}

interface Steps {
  /** In a square of 100 by 100. */
  readonly path: string;
  /** The height of a balance of zero. */
  readonly zero: number;
  readonly lowest: Balance;
  readonly highest: Balance;
}

/** A line with a step at each moment. Zero is always in the picture, so that a small change looks small. */
export function stepsOf(balances: readonly Balance[]): Steps {
  const sorted = balances.toSorted((one, other) => compareAmounts(one.balance, other.balance));
  const [lowest, highest] = [sorted[0], sorted.at(-1)] as [Balance, Balance];
  const floor = least(minorOf(lowest.balance), 0n);
  const ceiling = -least(-minorOf(highest.balance), 0n);
  const heightOf = (minor: bigint) =>
    ceiling === floor ? 100 : 100 - shareOf(minor - floor, ceiling - floor);
  const [start, end] = [balances[0], balances.at(-1)].map((one) => Date.parse(one?.before ?? '')) as [
    number,
    number,
  ];
  const points = balances.map(({ before, balance }) => {
    const x = end === start ? 100 : ((Date.parse(before) - start) / (end - start)) * 100;
    return { x: x.toFixed(2), y: heightOf(minorOf(balance)).toFixed(2) };
  });
  const [first] = points;
  const path = points.reduce((drawn, { x, y }) => `${drawn} H${x} V${y}`, `M0,${first?.y}`);
  return { path, zero: heightOf(0n), lowest, highest };
}

/** All amounts have the decimals of one currency. */
function minorOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
