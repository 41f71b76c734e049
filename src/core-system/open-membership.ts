import { insertAccounts, insertPrimaryHolder } from '../accounts/index.ts';
import type { Institution } from '../institutions/index.ts';
import { insertMembership, type MembershipPerson } from '../memberships/index.ts';
import { Problem } from '../shared/problem.ts';
import { isReadable } from '../shared/text/readable-text.ts';
import { uuidv7 } from '../shared/uuid.ts';
import type { Transaction } from '../storage/index.ts';
import { recordOpening } from './openings.ts';

export interface NewMember {
  readonly memberNumber: string;
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/**
 * Opens a membership for an unknown member number if enrollment is open: a person, their membership, a share savings and a share
 * draft (checking) account, and the institution's opening deposit for the latter.
 *
 * Problem `too_many_requests`: the institution's daily caps are reached. MembershipExistsError: another call opened the same number
 * at the same time.
 */
export async function openMembership(
  tx: Transaction,
  institution: Institution,
  { member, postingKey, at }: { readonly member: NewMember; readonly postingKey: bigint; readonly at: Date },
): Promise<MembershipPerson> {
  const { currency } = institution;
  refuseUnreadableNames(member);
  const { memberNumber } = member;
  const person = {
    firstName: member.firstName?.trim() ?? '',
    lastName: member.lastName?.trim() ?? '',
    email: member.email.trim(),
  };
  const ids = { customerId: uuidv7(at), personId: uuidv7(at) };
  const keys = await insertMembership(tx, { ...ids, memberNumber, ...person });
  if (keys === undefined) throw new MembershipExistsError();
  const { customerKey, personKey } = keys;

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
  await insertPrimaryHolder(tx, [...accountKeys.values()], personKey);
  const { accountId } = checking;
  await recordOpening(tx, institution, { customerKey, personKey, accountId, postingKey, at });
  return { personKey, role: 'PRIMARY', ...person, phoneNumber: null, phoneType: null, birthDate: null };
}

/** Problem `invalid_request`. The rule for names is that of an extract. */
function refuseUnreadableNames(member: NewMember): void {
  const errors = (['firstName', 'lastName'] as const)
    .filter((field) => !isReadable(member[field] ?? ''))
    .map((field) => ({
      pointer: `/${field}`,
      detail: 'Must not hold control, bidirectional or invisible characters.',
    }));
  if (errors.length > 0) throw new Problem('invalid_request', 'A name is not valid.', { errors });
}

/** Another enrollment opened the member number first. */
export class MembershipExistsError extends Error {
  override readonly name = 'MembershipExistsError';
}
