import { sql, type Transaction } from '../storage/index.ts';

const erase = sql(
  'members_erase_user',
  `update users set email = 'erased@' || user_id || '.invalid', verified_email = null, email_verified_by = null,
     username = null, password_hash = null, active = false
   where institution_id = $1 and user_key = $2`,
);
const erasePhones = sql(
  'members_erase_phones',
  'delete from user_phones where institution_id = $1 and user_key = $2',
);
const eraseTries = sql(
  'members_erase_registration_tries',
  `delete from registration_tries r
   where r.institution_id = $1 and r.member_number = any ($2::text[])`,
);

/** Empties a user's contact data and credentials, and ends the tokens: an inactive user has none. */
export async function eraseUser(tx: Transaction, userKey: bigint): Promise<void> {
  await tx.query(erase, [tx.institutionId, userKey]);
  await tx.query(erasePhones, [tx.institutionId, userKey]);
}

export async function eraseRegistrationTries(
  tx: Transaction,
  memberNumbers: readonly string[],
): Promise<void> {
  await tx.query(eraseTries, [tx.institutionId, memberNumbers]);
}
