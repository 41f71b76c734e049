import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** An extract's files as lines, the header first: line n of a file is `lines[n - 1]`. */
export type ExtractFiles = Record<string, string[]>;

export interface ExtractFolder extends AsyncDisposable {
  readonly folder: string;
  /** Writes the files anew. */
  write(files: ExtractFiles): Promise<void>;
}

/** A small valid extract; a new copy each time, for the caller to break. */
export function validExtract(): ExtractFiles {
  return {
    'institution.csv': [
      'code,name,currency,time_zone,enrollment,opening_deposit,password_min_length,demo',
      'fictional,Fictional Credit Union,USD,America/New_York,open,250.00,15,no',
    ],
    'persons.csv': [
      'person_id,first_name,last_name,email,phone_number,phone_type,birth_date',
      'p-1,Ada,Example,ada@example.test,+12025550143,MOBILE,1984-02-29',
      'p-2,Bob,Example,,,,',
      'p-3,,"Example, Sample & Co",office@example.test,+442079460018,WORK,',
    ],
    'members.csv': ['customer_id,member_number,member_type', 'c-1,1001,RETAIL', 'c-2,1002,BUSINESS'],
    'member-persons.csv': [
      'member_number,person_id,role',
      '1001,p-1,PRIMARY',
      '1001,p-2,JOINT',
      '1002,p-3,PRIMARY',
      '1002,p-1,BUSINESS_ADMIN',
    ],
    'accounts.csv': [
      'account_id,member_number,account_number,type,description,currency,balance,status,delinquent,overdraft_limit,credit_limit,accrued_interest,fees_due',
      'a-1,1001,1001-10,CHECKING,Share Draft,USD,-12.34,open,no,500.00,,,',
      'a-2,1001,4242,CREDIT_CARD_LOAN,Rewards Card,USD,842.19,open,no,,5000.00,,',
      'a-3,1001,1001-50,CONSUMER_LOAN,,USD,1000.00,open,yes,,,12.50,25',
      'a-4,1002,1002-10,CHECKING,Yen Checking,JPY,250000,open,no,,,,',
      'a-5,1002,1002-00,SAVINGS,Old Savings,USD,,closed,no,,,,',
    ],
    'holders.csv': [
      'account_id,person_id,role,may_pay',
      'a-1,p-1,PRIMARY,yes',
      'a-1,p-2,AUTHORIZED_SIGNER,no',
      'a-2,p-1,PRIMARY,yes',
      'a-3,p-1,PRIMARY,yes',
      'a-4,p-3,PRIMARY,yes',
      'a-4,p-1,JOINT,yes',
      'a-5,p-3,PRIMARY,yes',
    ],
  };
}

/** The given number of memberships, of one person with two accounts each. */
export function extractOf(members: number): ExtractFiles {
  const files = validExtract();
  for (const [name, lines] of Object.entries(files)) if (name !== 'institution.csv') lines.length = 1;
  for (let n = 1; n <= members; n += 1) {
    files['persons.csv']?.push(`p-${n},Ada,Example${n},ada.${n}@example.test,,,`);
    files['members.csv']?.push(`c-${n},${n},RETAIL`);
    files['member-persons.csv']?.push(`${n},p-${n},PRIMARY`);
    files['accounts.csv']?.push(`checking-${n},${n},${n}-10,CHECKING,,USD,${n}.25,open,no,,,,`);
    files['accounts.csv']?.push(`loan-${n},${n},${n}-50,CONSUMER_LOAN,,USD,${n},open,no,,,0.50,`);
    files['holders.csv']?.push(`checking-${n},p-${n},PRIMARY,yes`, `loan-${n},p-${n},PRIMARY,yes`);
  }
  return files;
}

export async function extractFolder(files: ExtractFiles): Promise<ExtractFolder> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-extract-'));
  const write = async (contents: ExtractFiles) => {
    for (const [name, lines] of Object.entries(contents)) {
      await writeFile(path.join(folder, name), lines.map((line) => `${line}\n`).join(''));
    }
  };
  await write(files);
  return { folder, write, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
