/**
 * Alerts: members choose them, they are derived from the feed, and each is itself an event of the feed. Owns alert_preferences,
 * alert_rules, alerts and alert_positions.
 *
 * Invariants: an alert stands for one event and one rule, once; the alerts of an event commit with the position behind it; a member
 * gets no alert about an account that no holder record of theirs names; security alerts cannot be switched off; nothing here runs in
 * the transaction of a transfer.
 */
export {
  type AccountAlertType,
  type AlertChannel,
  accountAlertTypes,
  alertChannels,
  alertEventKinds,
  alertTypes,
  type Language,
  languages,
} from './alert.ts';
export { type AlertDeps, startAlertWorker } from './alert-worker.ts';
export { alertsOfMember } from './alerts-of-member.ts';
export { listAlerts, markAlert, type ShownAlert } from './inbox/inbox.ts';
export { type AlertMail, alertMailOf } from './mail/alert-mail.ts';
export { stopAlertMail } from './mail/stop-alert-mail.ts';
export {
  type AlertPreferences,
  getAlertPreferences,
  replaceAlertPreferences,
  type WantedPreferences,
} from './preferences/preferences.ts';
export { deleteAlertsBefore } from './release/release-queries.ts';
export { textsOf } from './texts/message.ts';
