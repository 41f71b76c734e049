/**
 * Mail to members: the alerts that have an address, by SMTP. The sender of webhooks delivers them, with the position, the lease and the
 * schedule of an endpoint of its own. Owns mail_senders and mail_suppressions.
 *
 * Invariants: an event has one Message-ID at each attempt; no text of a member or of an institution reaches a header unchecked; a
 * suppressed address gets nothing until an operator lifts it; nothing here runs in the transaction of a transfer.
 */
export { isMailAddress } from './address.ts';
export { MailTransport } from './delivery/mail-transport.ts';
export { configureMail, findMailSender, type MailDeps, stopMail } from './senders/senders.ts';
export { eraseSuppressions } from './suppressions/suppression-queries.ts';
export {
  liftSuppression,
  listSuppressions,
  type Suppression,
  suppressAddress,
} from './suppressions/suppressions.ts';
