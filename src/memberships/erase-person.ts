import { sql, type Transaction } from '../storage/index.ts';

interface ErasablePerson {
  readonly personKey: bigint;
  readonly erasedAt: Date | null;
}

const lock = sql(
  'memberships_lock_person',
  'select person_key, erased_at from persons where institution_id = $1 and person_id = $2 for update',
);

/** Undefined for an unknown id of the core. */
export async function lockPerson(tx: Transaction, personId: string): Promise<ErasablePerson | undefined> {
  return (await tx.query<ErasablePerson>(lock, [tx.institutionId, personId])).rows[0];
}

const erase = sql(
  'memberships_erase_person',
  `update persons set first_name = '', last_name = '', email = null, phone_number = null, phone_type = null,
     birth_date = null, self_declared = false, erased_at = $3
   where institution_id = $1 and person_key = $2`,
);

/** Empties the person's record. Imports leave it empty. The database refuses while an account is open or its records are young. */
export async function erasePerson(tx: Transaction, personKey: bigint, at: Date): Promise<void> {
  await tx.query(erase, [tx.institutionId, personKey, at]);
}
