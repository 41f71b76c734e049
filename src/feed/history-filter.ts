/** A search of an account's history. An omitted part does not count. */
export interface HistoryFilter {
  /** Each word must stand in the description, merchant, category, check number or memo. */
  readonly text?: string | undefined;
  /** In minor units, without the sign. */
  readonly minMinor?: bigint | undefined;
  readonly maxMinor?: bigint | undefined;
  readonly category?: string | undefined;
  /** Days, inclusive: the effective date of the core's transactions, of others the day of posting. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  readonly timeZone: string;
  /** Kinds with their sign, as `kindCode` writes them. */
  readonly kindCodes?: readonly string[] | undefined;
}

/** The columns of one kind of row, as SQL. */
interface Columns {
  readonly words: string;
  readonly amount: string;
  readonly kind: string;
  readonly category: string;
  readonly effectiveDate: string;
  readonly at: string;
}

/** A condition on rows with these columns, to follow others; empty for none. */
export type Condition = (columns: Columns) => string;

export const ofPendingTransfer: Columns = {
  words: 't.memo',
  amount: '-t.amount',
  kind: `'HOLD'`,
  category: 'null',
  effectiveDate: 'null::date',
  at: 't.created_at',
};
export const ofAuthorization: Columns = {
  words: `concat_ws(' ', a.description, a.merchant, a.category)`,
  amount: '-a.held',
  kind: `'CORE_HOLD'`,
  category: 'a.category',
  effectiveDate: 'null::date',
  at: 'a.recorded_at',
};
export const ofEntry: Columns = {
  words: `concat_ws(' ', c.description, c.merchant, c.category, c.check_number, t.memo)`,
  amount: 'e.amount',
  kind: `case e.kind when 'CORE' then 'CORE ' || c.kind else e.kind end`,
  category: 'c.category',
  effectiveDate: 'c.effective_date',
  at: 'e.recorded_at',
};

/** The condition of a search; its values are parameters from $12 on. */
export const searched: Condition = ({ words, amount, kind, category, effectiveDate, at }) => `
        and coalesce(${words}, '') ilike all ($12::text[])
        and abs(${amount}) >= coalesce($13::bigint, 0) and abs(${amount}) <= coalesce($14::bigint, 9223372036854775807)
        and ($15::text[] is null or ${kind} || case when ${amount} > 0 then '+' else '-' end = any ($15))
        and ($16::text is null or lower(${category}) = lower($16))
        and ($17::date is null or coalesce(${effectiveDate}, (${at} at time zone $19)::date) >= $17)
        and ($18::date is null or coalesce(${effectiveDate}, (${at} at time zone $19)::date) <= $18)`;

export function valuesOf(filter: HistoryFilter): unknown[] {
  return [
    wordsOf(filter.text ?? '').map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`),
    filter.minMinor ?? null,
    filter.maxMinor ?? null,
    filter.kindCodes ?? null,
    filter.category ?? null,
    filter.startDate ?? null,
    filter.endDate ?? null,
    filter.timeZone,
  ];
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

/** A kind of entry with its sign; of the core's with the core's kind. */
export function kindCode(entryKind: string, coreKind: string | null, isCredit: boolean): string {
  return `${entryKind === 'CORE' ? `CORE ${coreKind}` : entryKind}${isCredit ? '+' : '-'}`;
}
