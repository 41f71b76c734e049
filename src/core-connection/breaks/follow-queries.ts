import { type Directory, type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import type { BreakEnd, FoundBreak } from './break.ts';

/** A break that the service finds by itself, with the parts of its note. */
export interface NewsRow extends Omit<FoundBreak, 'note' | 'accountSeq' | 'coreId' | 'asOf'> {
  readonly transferId: string;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  /** Delivered, or decided. */
  readonly since: Date;
}

const news = sql('core_breaks_to_open', 'select * from core_breaks_to_open($1, $2)');

export async function selectNews(db: Queryable, at: Date): Promise<NewsRow[]> {
  return (await db.query<NewsRow>(news, [db.institutionId, at])).rows;
}

export interface EndingRow {
  readonly breakKey: bigint;
  readonly closedBy: BreakEnd;
  readonly detail: string | null;
}

const endings = sql('core_breaks_to_close', 'select * from core_breaks_to_close($1)');

export async function selectEndings(db: Queryable): Promise<EndingRow[]> {
  return (await db.query<EndingRow>(endings, [db.institutionId])).rows;
}

const toTend = sql('core_to_tend', 'select institution from cores_to_tend($1)');

/** Institutions with an authorization or a break to end, or a break to open. */
export async function selectCoresToTend(db: Directory, now: Date): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(toTend, [now]);
  return rows.map(({ institution }) => institution);
}
