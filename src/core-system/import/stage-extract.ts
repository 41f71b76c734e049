import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { InstitutionSettings } from '../../institutions/index.ts';
import { blockBytes } from '../../shared/text/csv.ts';
import { ErrorsByKind } from '../extract/errors-by-kind.ts';
import {
  accountShape,
  coreShapes,
  ExtractRejectedError,
  holderShape,
  institutionShape,
  memberPersonShape,
  memberShape,
  namedSettings,
  personShape,
  readAccount,
  readAsOf,
  readHolder,
  readInstitution,
  readMember,
  readMemberPerson,
  readPerson,
} from '../extract/extract.ts';
import type { ExtractMapping } from '../extract/extract-mapping.ts';
import { misfit, type Place, type Row, readRows } from '../extract/extract-table.ts';
import type { TableShape } from '../extract/table-shape.ts';
import type { Staging } from './ranges.ts';
import type { RejectedRows } from './rejected-rows.ts';
import {
  accountStage,
  addToStage,
  holderStage,
  memberPersonStage,
  memberStage,
  personStage,
  type Stage,
} from './stage-queries.ts';

/** The content of institution.csv, with or without errors. */
export interface Heading {
  /** Empty if the file has none. */
  readonly code: string;
  readonly settings: InstitutionSettings | undefined;
  /** The settings that the file has a column for. */
  readonly named: ReadonlySet<string>;
  /** The moment of the balances; undefined if the extract omits it. */
  readonly asOf: Date | undefined;
}

/** Counts of the stage. */
export interface StageContents {
  readonly persons: number;
  readonly members: number;
  readonly memberPersons: number;
  readonly accounts: number;
  readonly holders: number;
  /** Accounts with a figure other than zero. */
  readonly figures: number;
  readonly currencies: ReadonlySet<string>;
}

const extractFiles = [institutionShape, ...coreShapes].map(({ file }) => file);

/** The errors of an extract, collected while it is read. */
export class Complaints {
  /** Files that cannot be read as tables. */
  readonly broken = new ErrorsByKind();
  readonly values = new ErrorsByKind();
  /** A key is repeated; references to it would be errors, too. */
  repeated = false;
  /** Collects the rows with errors if the import leaves them out; undefined if it is refused for them. */
  readonly rejects: RejectedRows | undefined;

  constructor(rejects?: RejectedRows) {
    this.rejects = rejects;
  }

  /** An error of one row. */
  row(place: Place, expected: string): void {
    if (this.rejects === undefined) this.values.push(misfit(place, expected));
    else this.rejects.add(place, expected);
  }

  /** Throws ExtractRejectedError if there are errors. Errors of an unreadable file hide those of files that refer to it. */
  refuse(): void {
    const errors = this.broken.isEmpty ? this.values : this.broken;
    if (!errors.isEmpty) throw new ExtractRejectedError(errors.list(extractFiles));
  }
}

export async function readHeading(folder: string, complaints: Complaints): Promise<Heading> {
  const { file } = institutionShape;
  const { broken, values } = complaints;
  const rows: Row[] = [];
  for await (const some of readRows(folder, institutionShape, complaints)) rows.push(...some);
  if (broken.isEmpty && rows.length !== 1) values.push(`${file}:1: expected exactly one institution`);
  const [row] = rows;
  if (row === undefined || !broken.isEmpty)
    return { code: '', settings: undefined, named: new Set(), asOf: undefined };
  const settings = readInstitution(row);
  return { code: settings.code.slice(0, 100), settings, named: namedSettings(row), asOf: readAsOf(row) };
}

/** The files to read, with the receiver of their errors. */
export interface StagedFiles {
  readonly folder: string;
  readonly complaints: Complaints;
  /** Without it, the files have the extract's own form. */
  readonly mapping?: ExtractMapping | undefined;
}

export type OnBlock = (done: number, of: number) => Promise<void> | void;

/**
 * Reads the files of an extract into the stage, some thousands of lines at a time. Each invalid value and each repeated key is
 * added to `complaints`. Memory does not grow with the files.
 */
export async function stageExtract(
  { session, institutionId }: Staging,
  { folder, complaints, mapping }: StagedFiles,
  onBlock: OnBlock,
): Promise<StageContents> {
  const { values, broken, rejects } = complaints;
  const onMisfit = rejects && ((place: Place, expected: string) => rejects.add(place, expected));
  const currencies = new Set<string>();
  let figures = 0;
  const blocks = await countBlocks(folder);
  let done = 0;

  const stageFile = async <Item>(
    shape: TableShape,
    stage: Stage<Item>,
    read: (row: Row) => Item,
  ): Promise<number> => {
    let count = 0;
    let adding = Promise.resolve();
    for await (const rows of readRows(folder, shape, { values, broken, onMisfit, mapping })) {
      const staged = rows.map((row) => ({ line: row.line, item: read(row) }));
      count += staged.length;
      // The next block is read while the database inserts this one.
      await adding;
      adding = add(stage, staged, shape.file);
      adding.catch(() => {});
      done += 1;
      await onBlock(Math.min(done, blocks), blocks);
    }
    await adding;
    return count;
  };
  const add = async <Item>(
    stage: Stage<Item>,
    staged: readonly { line: number; item: Item }[],
    file: string,
  ) => {
    if (staged.length === 0) return;
    const repeated = await session.transaction(institutionId, async (tx) => {
      await rejects?.save(tx);
      return addToStage(tx, stage, staged);
    });
    for (const { line, firstLine, columns } of repeated) {
      complaints.repeated = true;
      complaints.row({ file, line, column: columns }, 'a value that no line above has');
      // The files do not say which of the two is right.
      rejects?.add({ file, line: firstLine, column: columns }, 'a value that no line below has');
    }
  };

  return {
    persons: await stageFile(personShape, personStage, readPerson),
    members: await stageFile(memberShape, memberStage, readMember),
    memberPersons: await stageFile(memberPersonShape, memberPersonStage, readMemberPerson),
    accounts: await stageFile(accountShape, accountStage, (row) => {
      const account = readAccount(row);
      currencies.add(account.currency);
      if (account.posted !== 0n) figures += 1;
      return account;
    }),
    holders: await stageFile(holderShape, holderStage, readHolder),
    figures,
    currencies,
  };
}

/** The reader reports a missing file. */
async function countBlocks(folder: string): Promise<number> {
  const sizes = await Promise.all(
    extractFiles.slice(1).map((file) =>
      stat(path.join(folder, file)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + Math.ceil(size / blockBytes), 0);
}
