import { sql, type Transaction } from '../../storage/index.ts';

const activations = sql(
  'auth_erase_activation',
  'delete from activations where institution_id = $1 and user_key = $2',
);
const emailCodes = sql(
  'auth_erase_email_code',
  'delete from email_codes where institution_id = $1 and user_key = $2',
);

/** Deletes the one-time codes of a user, one of which has an e-mail address. */
export async function eraseCodes(tx: Transaction, userKey: bigint): Promise<void> {
  await tx.query(activations, [tx.institutionId, userKey]);
  await tx.query(emailCodes, [tx.institutionId, userKey]);
}
