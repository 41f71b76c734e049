import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mulberry32 } from '../test/support/random.ts';

/* An extract of a core with invented members of the institution `bench`, the same each time. */

const seed = 20_260_302;

interface Person {
  readonly id: string;
  readonly joint: boolean;
  readonly renamed: boolean;
}

/** One file: its header, the lines of one member, and the columns and key of its plain table. */
interface File {
  readonly name: string;
  readonly header: string;
  readonly table: string;
  readonly linesOf: (member: number, persons: readonly Person[]) => string[];
}

const first = ['Ada', 'Bea', 'Cleo', 'Dora', 'Emil', 'Finn', 'Gus', 'Hana', 'Ivo', 'Juno'];
const last = [
  'Amberly',
  'Brook',
  'Crane',
  'Dunmore',
  'Ember',
  'Fallow',
  'Glade',
  'Hollis',
  'Inkwell',
  'Juniper',
];

const accountsOf = (member: number) => {
  const balance = `${(member * 7_919) % 90_000}.${String(member % 100).padStart(2, '0')}`;
  const kinds = [
    `savings,SAVINGS,,${balance},,,,`,
    `checking,CHECKING,Everyday Checking,${balance},250.00,,,`,
  ];
  if (member % 10 < 3) kinds.push(`loan,CONSUMER_LOAN,,${balance},,,12.50,`);
  return kinds.map((kind, index) => {
    const [suffix, type, description, amount, overdraft, credit, interest, fees] = kind.split(',');
    const id = `a-${member}-${suffix}`;
    const row = `${id},${member},${member}-${index}0,${type},${description},USD,${amount},open,no,${overdraft},${credit},${interest},${fees}`;
    return { id, row };
  });
};

export const extractFiles: readonly File[] = [
  {
    name: 'persons.csv',
    header: 'person_id,first_name,last_name,email,phone_number,phone_type,birth_date',
    table:
      'person_id text primary key, first_name text, last_name text, email text, phone_number text, phone_type text, birth_date date',
    linesOf: (member, persons) =>
      persons.map(({ id, joint, renamed }) => {
        const name = `${first[member % 10]},${renamed ? 'Renamed' : last[(member >> 3) % 10]}${member % 997}`;
        const phone = joint ? ',' : `+1202555${String(member % 10_000).padStart(4, '0')},MOBILE`;
        return `${id},${name},${id}@example.test,${phone},${1940 + (member % 65)}-0${1 + (member % 9)}-1${member % 10}`;
      }),
  },
  {
    name: 'members.csv',
    header: 'customer_id,member_number,member_type',
    table: 'customer_id text, member_number text primary key, member_type text',
    linesOf: (member) => [`c-${member},${member},RETAIL`],
  },
  {
    name: 'member-persons.csv',
    header: 'member_number,person_id,role',
    table: 'member_number text, person_id text, role text, primary key (member_number, person_id)',
    linesOf: (member, persons) =>
      persons.map(({ id, joint }) => `${member},${id},${joint ? 'JOINT' : 'PRIMARY'}`),
  },
  {
    name: 'accounts.csv',
    header:
      'account_id,member_number,account_number,type,description,currency,balance,status,delinquent,overdraft_limit,credit_limit,accrued_interest,fees_due',
    table:
      'account_id text primary key, member_number text, account_number text, type text, description text, currency text, balance numeric, status text, delinquent boolean, overdraft_limit numeric, credit_limit numeric, accrued_interest numeric, fees_due numeric',
    linesOf: (member) => accountsOf(member).map(({ row }) => row),
  },
  {
    name: 'holders.csv',
    header: 'account_id,person_id,role,may_pay',
    table: 'account_id text, person_id text, role text, may_pay boolean, primary key (account_id, person_id)',
    linesOf: (member, persons) =>
      accountsOf(member).flatMap(({ id: account }) =>
        persons.map(({ id, joint }) => `${account},${id},${joint ? 'JOINT' : 'PRIMARY'},yes`),
      ),
  },
];

/** One member in five has a joint holder; with `renamed`, every hundredth person has another last name. */
export async function writeExtract(folder: string, members: number, renamed = false): Promise<number> {
  await mkdir(folder, { recursive: true });
  let rows = 0;
  async function* lines(file: File) {
    const random = mulberry32(seed);
    let chunk = `${file.header}\n`;
    for (let member = 100_001; member <= 100_000 + members; member += 1) {
      const person = { id: `p-${member}`, joint: false, renamed: renamed && member % 100 === 0 };
      const joint = { id: `p-${member}-j`, joint: true, renamed: false };
      for (const line of file.linesOf(member, random(5) === 0 ? [person, joint] : [person])) {
        chunk += `${line}\n`;
        rows += 1;
      }
      if (chunk.length > 65_536) {
        yield chunk;
        chunk = '';
      }
    }
    yield chunk;
  }
  for (const file of extractFiles) {
    await pipeline(Readable.from(lines(file)), createWriteStream(path.join(folder, file.name)));
  }
  const institution = `code,name,currency,time_zone,enrollment,opening_deposit,password_min_length,demo\nbench,Bench Credit Union,USD,America/New_York,closed,,15,no\n`;
  await pipeline(Readable.from([institution]), createWriteStream(path.join(folder, 'institution.csv')));
  return rows;
}
