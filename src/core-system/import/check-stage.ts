import type { Institution, InstitutionSettings } from '../../institutions/index.ts';
import type { Session } from '../../storage/index.ts';
import { businessRoles, retailRoles } from '../extract/extract.ts';
import { misfit, type Place } from '../extract/extract-table.ts';
import {
  selectAccountsOfNoMember,
  selectChangedAccounts,
  selectChangedMembers,
  selectMembersWithoutPrimary,
  selectUnheldAccounts,
  selectWrongHolders,
  selectWrongMemberPersons,
} from './check-queries.ts';
import { forEachRange, type Staging } from './ranges.ts';
import { type Complaints, type StageContents, type StagedFiles, stageExtract } from './stage-extract.ts';
import { analyzeImported } from './stage-queries.ts';

const rowsAtOnce = 5_000;
export const unheldNamed = 20;

export interface SoundStage {
  readonly contents: StageContents;
  /** Accounts without a holder. */
  readonly unheld: { readonly count: number; readonly accountIds: readonly string[] };
}

/** Reads an extract into the stage and checks it there. Throws ExtractRejectedError with its errors. */
export async function readIntoStage(
  staging: Staging,
  extract: StagedFiles,
  onProgress: (step: 'reading' | 'checking', done: number, of: number) => Promise<void> | void,
): Promise<SoundStage> {
  const { complaints } = extract;
  const contents = await stageExtract(staging, extract, (done, of) => onProgress('reading', done, of));
  // References to a row with a repeated key would be errors, too.
  const isRefused = complaints.repeated && complaints.rejects === undefined;
  if (!complaints.broken.isEmpty || isRefused) complaints.refuse();
  await staging.session.directory(analyzeImported);
  let checked = 0;
  const unheld = await checkStage(staging, complaints, async (rows) => {
    checked += rows;
    await onProgress('checking', checked, contents.members + contents.holders);
  });
  complaints.refuse();
  return { contents, unheld };
}

/** Adds the errors between files to `complaints`. Returns the accounts without a holder. */
async function checkStage(
  staging: Staging,
  complaints: Complaints,
  onRows: (rows: number) => Promise<void>,
): Promise<{ readonly count: number; readonly accountIds: readonly string[] }> {
  const fail = (place: Place, expected: string) => complaints.row(place, expected);
  const accountIds: string[] = [];
  let unheld = 0;

  await forEachRange(staging, { key: 'members', rows: rowsAtOnce }, async (tx, range) => {
    for (const wrong of await selectWrongMemberPersons(tx, range)) {
      const complain = (column: string, expected: string) =>
        fail({ file: 'member-persons.csv', line: wrong.line, column }, expected);
      if (wrong.noMember) complain('member_number', 'one of members.csv');
      if (wrong.noMember && !wrong.known) complaints.rejects?.misplaced.add('member-persons.csv');
      if (wrong.noPerson) complain('person_id', 'one of persons.csv');
      const roles = wrong.retail === true ? retailRoles : businessRoles;
      if (wrong.wrongRole) complain('role', roles.join(' or '));
      if (wrong.secondPrimary) complain('role', 'one PRIMARY a membership');
    }
    for (const { line } of await selectMembersWithoutPrimary(tx, range)) {
      fail({ file: 'members.csv', line, column: 'member_number' }, 'a PRIMARY in member-persons.csv');
    }
    for (const { line } of await selectAccountsOfNoMember(tx, range)) {
      fail({ file: 'accounts.csv', line, column: 'member_number' }, 'one of members.csv');
    }
    const accounts = await selectUnheldAccounts(tx, range);
    unheld += accounts.length;
    accountIds.push(...accounts.slice(0, unheldNamed - accountIds.length));
    await complaints.rejects?.save(tx);
    await onRows(rowsAtOnce);
  });
  await forEachRange(staging, { key: 'holders', rows: rowsAtOnce }, async (tx, range) => {
    for (const { line, noAccount, known } of await selectWrongHolders(tx, range)) {
      if (noAccount && !known) complaints.rejects?.misplaced.add('holders.csv');
      const place = (column: string) => ({ file: 'holders.csv', line, column });
      if (noAccount) fail(place('account_id'), 'one of accounts.csv');
      else fail(place('person_id'), "a person of the account's membership in member-persons.csv");
    }
    await complaints.rejects?.save(tx);
    await onRows(rowsAtOnce);
  });
  return { count: unheld, accountIds };
}

/** Adds changes of values that never change: currency, member, type, institution. */
export async function checkAgainstBefore(
  session: Session,
  { institution, settings }: { readonly institution: Institution; readonly settings: InstitutionSettings },
  complaints: Complaints,
): Promise<void> {
  const staging = { session, institutionId: institution.institutionId };
  const expected = 'the value of the earlier import';
  const refuse = (column: string) =>
    complaints.values.push(misfit({ file: 'institution.csv', line: 2, column }, expected));
  const fail = (file: string, line: number, column: string) =>
    complaints.row({ file, line, column }, expected);
  if (institution.currency !== settings.currency) refuse('currency');
  if (institution.demo !== settings.demo) refuse('demo');
  if (settings.record !== undefined && institution.record !== settings.record) refuse('record');

  await forEachRange(staging, { key: 'members', rows: rowsAtOnce }, async (tx, range) => {
    for (const changed of await selectChangedMembers(tx, range)) {
      if (changed.memberNumber) fail('members.csv', changed.line, 'member_number');
      if (changed.customerId) fail('members.csv', changed.line, 'customer_id');
      if (changed.memberType) fail('members.csv', changed.line, 'member_type');
    }
    for (const changed of await selectChangedAccounts(tx, range)) {
      if (changed.memberNumber) fail('accounts.csv', changed.line, 'member_number');
      if (changed.type) fail('accounts.csv', changed.line, 'type');
      if (changed.currency) fail('accounts.csv', changed.line, 'currency');
    }
    await complaints.rejects?.save(tx);
  });
}
