import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '../../src/app/config.ts';
import { openAppContext } from '../../src/app/context.ts';
import { readTransferRules } from '../../src/app/transfer-rules.ts';
import { createClient, readPublicKey } from '../../src/auth/index.ts';
import { importExtract } from '../../src/core-system/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { saveTransferRules } from '../../src/transfers/index.ts';
import type { Random } from './random.ts';

/* The institution of a simulated month: an extract of any size, and the clients of its app and of its core. */

export const code = 'prairie';
export const appClient = ['prairie-app', 'prairie-app-secret-of-a-simulated-month'] as const;
export const coreClient = 'prairie-core';

export interface MonthMember {
  readonly checking: string;
  readonly savings: string;
}

/** Writes the extract. Every third member has a loan, every fourth a card. */
export async function writeExtract(folder: string, count: number, random: Random): Promise<MonthMember[]> {
  const rows = {
    'persons.csv': ['person_id,first_name,last_name,email,phone_number,phone_type,birth_date'],
    'members.csv': ['customer_id,member_number,member_type'],
    'member-persons.csv': ['member_number,person_id,role'],
    'holders.csv': ['account_id,person_id,role,may_pay'],
    'accounts.csv': [
      'account_id,member_number,account_number,type,description,currency,balance,status,delinquent,overdraft_limit,credit_limit,accrued_interest,fees_due',
    ],
  };
  const members: MonthMember[] = [];
  for (let n = 0; n < count; n += 1) {
    const number = String(100_000 + n);
    rows['persons.csv'].push(`p-${n},Member,Invented${n},,,,`);
    rows['members.csv'].push(`c-${n},${number},RETAIL`);
    rows['member-persons.csv'].push(`${number},p-${n},PRIMARY`);
    const open = (
      name: string,
      type: string,
      [balance, overdraft, credit]: readonly [string, string, string],
    ) => {
      const id = `m-${n}-${name}`;
      const suffix = type === 'CREDIT_CARD_LOAN' ? String(1_000 + (n % 9_000)) : `${number}-${name}`;
      rows['accounts.csv'].push(
        `${id},${number},${suffix},${type},${name},USD,${balance},open,no,${overdraft},${credit},,`,
      );
      rows['holders.csv'].push(`${id},p-${n},PRIMARY,yes`);
      return id;
    };
    const dollars = (least: number, most: number) => `${least + random(most - least)}.00`;
    members.push({
      checking: open('checking', 'CHECKING', [dollars(200, 2_500), n % 5 === 0 ? '300.00' : '', '']),
      savings: open('savings', 'SAVINGS', [dollars(100, 3_000), '', '']),
    });
    if (n % 3 === 0) open('loan', 'INSTALLMENT_LOAN', [dollars(3_000, 12_000), '', '']);
    if (n % 4 === 0) open('card', 'CREDIT_CARD_LOAN', ['', '', '2000.00']);
  }
  await mkdir(folder, { recursive: true });
  const institution =
    'code,name,currency,time_zone,enrollment,opening_deposit,password_min_length,demo,record\n' +
    `${code},Prairie Test Savings,USD,America/Denver,closed,0.00,15,yes,core\n`;
  const policies =
    'transfer_type,currency,review_above,second_approval_above,review_seconds,on_review_timeout,cut_off,payment_options,core_policy,memo_up_to,core_wait_seconds,stand_in\n' +
    'STANDARD,USD,,,,,,,MEMO,400.00,3600,WAIT\nINTRA_FI,USD,,,,,,,WAIT,,3600,WAIT\n';
  const limits =
    'limit_key,subject,period,transfer_type,source_type,currency,max_per_transfer,max_amount,max_count\n' +
    '1,STAND_IN,DAY,,,USD,,20000.00,\n2,STAND_IN_ACCOUNT,DAY,,,USD,150.00,400.00,\n';
  await Promise.all(
    [
      ...Object.entries(rows).map(([name, lines]) => [name, `${lines.join('\n')}\n`] as const),
      ['institution.csv', institution] as const,
      ['transfer-policies.csv', policies] as const,
      ['transfer-limits.csv', limits] as const,
    ].map(([name, text]) => writeFile(path.join(folder, name), text)),
  );
  return members;
}

/** Imports the extract into the embedded database of the folder, and creates both clients. */
export async function openBank(
  environment: Readonly<Record<string, string>>,
  extract: string,
  corePublicKey: string,
): Promise<void> {
  const { config, secrets } = loadConfig(environment);
  const context = await openAppContext(config, secrets, 'own', () => {});
  try {
    const { institution } = await importExtract(context, extract);
    if (institution === undefined) throw new Error('the extract was not imported');
    const { institutionId } = institution;
    const rules = await readTransferRules(extract);
    await saveTransferRules(context, institutionId, { rules, origin: ownOrigin() });
    const [clientId, secret] = appClient;
    const scopes = ['account:read', 'transfer:read', 'transfer:write'] as const;
    const grants = ['client_credentials'];
    await createClient(
      context.auth,
      { institutionId, clientId, name: 'App', secret, scopes, grants },
      ownOrigin(),
    );
    await createClient(
      context.auth,
      {
        institutionId,
        clientId: coreClient,
        name: 'Core',
        key: await readPublicKey(corePublicKey),
        scopes: ['core:read', 'core:write'],
        grants,
      },
      ownOrigin(),
    );
  } finally {
    await context.close();
  }
}
