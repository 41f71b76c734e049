import { shareOf } from '../../../design/format/money.ts';

/** In the units of the picture. */
const [bandHeight, gap] = [320, 40];

interface Flow {
  readonly from: string;
  readonly to: string;
  /** Decimal text; all flows of a picture have one currency. */
  readonly amount: string;
}

export interface Bar {
  readonly name: string;
  readonly y: number;
  readonly height: number;
}

interface Band {
  readonly key: string;
  readonly fromY: number;
  readonly toY: number;
  readonly height: number;
}

export interface FlowLayout {
  readonly sources: readonly Bar[];
  readonly targets: readonly Bar[];
  readonly bands: readonly Band[];
  readonly height: number;
}

/** Sources on the left, targets on the right, the largest at the top. Heights are shares of all money that moved. */
export function layoutOf(flows: readonly Flow[]): FlowLayout {
  const sources = barsOf(flows, 'from');
  const targets = barsOf(flows, 'to');
  const used = new Map<string, number>();
  const take = (side: 'from' | 'to', bars: readonly Bar[], name: string, height: number): number => {
    const key = `${side} ${name}`;
    const y = used.get(key) ?? bars.find((bar) => bar.name === name)?.y ?? 0;
    used.set(key, y + height);
    return y;
  };
  const bands = flows.map(({ from, to, amount }) => {
    const height = heightOf(minorOf(amount), totalOf(flows));
    const [fromY, toY] = [take('from', sources, from, height), take('to', targets, to, height)];
    return { key: `${from} ${to}`, fromY, toY, height };
  });
  const most = Math.max(sources.length, targets.length, 1);
  return { sources, targets, bands, height: bandHeight + (most + 1) * gap };
}

/** Digits only: both amounts have the decimals of one currency. */
function minorOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

function totalOf(flows: readonly Flow[]): bigint {
  return flows.reduce((sum, { amount }) => sum + minorOf(amount), 0n);
}

function heightOf(minor: bigint, total: bigint): number {
  return (shareOf(minor, total) / 100) * bandHeight;
}

function barsOf(flows: readonly Flow[], side: 'from' | 'to'): Bar[] {
  const totals = new Map<string, bigint>();
  for (const flow of flows) totals.set(flow[side], (totals.get(flow[side]) ?? 0n) + minorOf(flow.amount));
  let y = gap;
  return [...totals]
    .toSorted(([, one], [, other]) => Number(other > one) - Number(other < one))
    .map(([name, minor]) => {
      const bar = { name, y, height: heightOf(minor, totalOf(flows)) };
      y += bar.height + gap;
      return bar;
    });
}
