import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Account, toCents } from './books.ts';

/** The accounts and the time zone of an extract, as this core would export it. Values have neither quotes nor commas. */
export async function readExtract(
  folder: string,
): Promise<{ readonly accounts: Account[]; readonly zone: string }> {
  const [institution] = await readTable(path.join(folder, 'institution.csv'));
  const rows = await readTable(path.join(folder, 'accounts.csv'));
  const holders = await readTable(path.join(folder, 'holders.csv'));
  const primaries = new Map(
    holders.flatMap(({ account_id: id = '', person_id: person = '', role }) =>
      role === 'PRIMARY' ? [[id, person]] : [],
    ),
  );
  return { accounts: rows.map((row) => accountOf(row, primaries)), zone: institution?.time_zone ?? 'UTC' };
}

function accountOf(row: Readonly<Record<string, string>>, primaries: ReadonlyMap<string, string>): Account {
  const type = row.type ?? '';
  const balance = toCents(Number(row.balance || 0));
  const limit = type.endsWith('_LOAN') ? row.credit_limit : row.overdraft_limit;
  const personId = primaries.get(row.account_id ?? '');
  return {
    accountId: row.account_id ?? '',
    memberNumber: row.member_number ?? '',
    ...(personId !== undefined && { personId }),
    type,
    currencyCode: row.currency ?? '',
    floor: -toCents(Number(limit || 0)),
    isClosed: row.status === 'closed',
    opening: type.endsWith('_LOAN') && balance !== 0 ? -balance : balance,
  };
}

async function readTable(file: string): Promise<Record<string, string>[]> {
  const [header = '', ...lines] = (await readFile(file, 'utf8')).trim().split(/\r?\n/);
  const names = header.split(',');
  return lines.map((line) => {
    const values = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
  });
}
