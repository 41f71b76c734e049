import { appendEvents } from '../../events/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { verifyEmailByCore } from '../queries.ts';

/** Makes the one-time code that confirms an address. The sealed one goes with the event. */
export type IssueEmailCode = (
  tx: Transaction,
  request: { readonly userKey: bigint; readonly emailAddress: string; readonly at: Date },
) => Promise<{ readonly sealedCode: Uint8Array; readonly expiresAt: Date }>;

/**
 * Verifies the user's current address if it is the core's. Otherwise an event asks the institution to send a code to it;
 * until the code is confirmed, the address verified before identifies the user.
 */
export async function verifyEmail(
  tx: Transaction,
  issueEmailCode: IssueEmailCode,
  user: { readonly userKey: bigint; readonly email: string },
  at: Date,
): Promise<void> {
  const { userKey, email } = user;
  if (await verifyEmailByCore(tx, userKey)) return;
  const { sealedCode, expiresAt } = await issueEmailCode(tx, { userKey, emailAddress: email, at });
  const event = {
    kind: 'member.email_confirmation_requested',
    subjectKey: userKey,
    data: { emailAddress: email },
    secret: sealedCode,
    secretExpiresAt: expiresAt,
  };
  await appendEvents(tx, [event], at);
}
