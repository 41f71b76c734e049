import { type Queryable, sql, type Transaction } from '../../storage/index.ts';

/** The name and address that members see. */
export interface MailSender {
  readonly fromName: string;
  readonly fromAddress: string;
  readonly replyTo: string | null;
}

export interface MailSenderRow extends MailSender {
  readonly endpointId: string;
}

const find = sql(
  'mail_sender',
  `select endpoint_id::text as endpoint_id, from_name, from_address, reply_to from mail_senders where institution_id = $1`,
);

/** Undefined for an institution that sends no mail. */
export async function selectSender(db: Queryable): Promise<MailSenderRow | undefined> {
  return (await db.query<MailSenderRow>(find, [db.institutionId])).rows[0];
}

const save = sql(
  'mail_save_sender',
  `insert into mail_senders (institution_id, endpoint_id, changed_at, from_name, from_address, reply_to)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (institution_id) do update
   set changed_at = excluded.changed_at, from_name = excluded.from_name, from_address = excluded.from_address,
       reply_to = excluded.reply_to`,
);

export async function upsertSender(tx: Transaction, sender: MailSenderRow, at: Date): Promise<void> {
  const { endpointId, fromName, fromAddress, replyTo } = sender;
  await tx.query(save, [tx.institutionId, endpointId, at, fromName, fromAddress, replyTo]);
}
