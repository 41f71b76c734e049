import { insertAccounts } from '../accounts/index.ts';
import type { Institution } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import { isReadable } from '../shared/readable-text.ts';
import { uuidv7 } from '../shared/uuid.ts';
import type { Transaction } from '../storage/index.ts';
import { recordOpening } from './openings.ts';
import {
  insertCustomers,
  insertSelfDeclared,
  type MembershipPerson,
  replaceHolders,
  replaceMemberPersons,
} from './queries.ts';

export interface NewMember {
  readonly memberNumber: string;
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/**
 * Opens an unknown member number on the spot, where enrollment is open: a person, their membership, a share savings
 * and a share draft (checking) account, and the institution's opening deposit for the latter.
 *
 * Problem `too_many_requests`: the institution's caps of the day are reached. A unique violation: another call opened the
 * same number at the same time.
 */
export async function openMembership(
  tx: Transaction,
  institution: Institution,
  member: NewMember,
  openingKey: bigint,
  at: Date,
): Promise<MembershipPerson> {
  const { institutionId, currency } = institution;
  refuseUnreadableNames(member);
  const person = {
    personId: uuidv7(at),
    firstName: member.firstName?.trim() ?? '',
    lastName: member.lastName?.trim() ?? '',
    email: member.email.trim(),
  };
  const { memberNumber } = member;
  const customer = { customerId: uuidv7(at), memberNumber, memberType: 'RETAIL' };
  const customerKey = (await insertCustomers(tx, institutionId, [customer])).get(memberNumber);
  // The number was taken between our look and our insert: the loser of the race registers nobody.
  if (customerKey === undefined) throw new MembershipExists();
  const personKey = await insertSelfDeclared(tx, institutionId, person);
  await replaceMemberPersons(tx, institutionId, [customerKey], [{ customerKey, personKey, role: 'PRIMARY' }]);

  const checking = {
    accountId: uuidv7(at),
    diAccountType: 'CHECKING',
    description: 'Share Draft',
    suffix: '10',
  };
  const savings = {
    accountId: uuidv7(at),
    diAccountType: 'SAVINGS',
    description: 'Share Savings',
    suffix: '00',
  };
  const accountKeys = await insertAccounts(
    tx,
    [savings, checking].map(({ suffix, ...account }) => ({
      ...account,
      customerKey,
      purpose: null,
      accountNumber: `${memberNumber}-${suffix}`,
      currency,
      closed: false,
      delinquent: false,
      overdraftLimit: 0n,
      creditLimit: 0n,
      accruedInterest: 0n,
      feesDue: 0n,
    })),
    at,
  );
  const keys = [...accountKeys.values()];
  const holders = keys.map((accountKey) => ({ accountKey, personKey, role: 'PRIMARY', mayPay: true }));
  await replaceHolders(tx, institutionId, keys, holders);
  const { accountId } = checking;
  await recordOpening(tx, institution, { customerKey, personKey, accountId }, openingKey, at);
  const { firstName, lastName, email } = person;
  return {
    personKey,
    role: 'PRIMARY',
    firstName,
    lastName,
    email,
    phoneNumber: null,
    phoneType: null,
    birthDate: null,
    registered: false,
  };
}

/** Problem `invalid_request`. These names become a record of the core's, which an extract would have to satisfy, too. */
function refuseUnreadableNames(member: NewMember): void {
  const errors = (['firstName', 'lastName'] as const)
    .filter((field) => !isReadable(member[field] ?? ''))
    .map((field) => ({
      pointer: `/${field}`,
      detail: 'Must not hold control, bidirectional or invisible characters.',
    }));
  if (errors.length > 0) throw new Problem('invalid_request', 'A name is not valid.', { errors });
}

/** Thrown to the loser of two enrollments of one number. */
export class MembershipExists extends Error {
  override readonly name = 'MembershipExists';
}
