import { getFdxAccount } from './fdx/get-account.ts';
import { getFdxCustomer } from './fdx/get-customer.ts';
import { listFdxAccounts } from './fdx/list-accounts.ts';
import { listFdxTransactions } from './fdx/list-transactions.ts';
import type { Operation } from './operation.ts';
import { getAccount } from './routes/accounts/get-account.ts';
import { getBalances } from './routes/accounts/get-balances.ts';
import { getMemberAccounts } from './routes/accounts/get-member-accounts.ts';
import { listAccounts } from './routes/accounts/list-accounts.ts';
import { listTransactions } from './routes/accounts/list-transactions.ts';
import { getAlertPreferences } from './routes/alerts/get-alert-preferences.ts';
import { listAlerts } from './routes/alerts/list-alerts.ts';
import { markAlert } from './routes/alerts/mark-alert.ts';
import { reportBounce } from './routes/alerts/report-bounce.ts';
import { updateAlertPreferences } from './routes/alerts/update-alert-preferences.ts';
import { listConsents } from './routes/consents/list-consents.ts';
import { narrowConsent } from './routes/consents/narrow-consent.ts';
import { withdrawConsent } from './routes/consents/withdraw-consent.ts';
import { compareBalances } from './routes/core/compare-balances.ts';
import { coreHeartbeat } from './routes/core/core-heartbeat.ts';
import { deliverRecords } from './routes/core/deliver-records.ts';
import { deliverTransactions } from './routes/core/deliver-transactions.ts';
import { getBreak } from './routes/core/get-break.ts';
import { getCoreConnection } from './routes/core/get-core-connection.ts';
import { listBreaks } from './routes/core/list-breaks.ts';
import { listInstructions } from './routes/core/list-instructions.ts';
import { reportOutcome } from './routes/core/report-outcome.ts';
import { updateBreak } from './routes/core/update-break.ts';
import { readEvents } from './routes/events/read-events.ts';
import { acknowledgeActivationCode } from './routes/members/acknowledge-activation-code.ts';
import { acknowledgeEmailCode } from './routes/members/acknowledge-email-code.ts';
import { activateMember } from './routes/members/activate-member.ts';
import { changePassword } from './routes/members/change-password.ts';
import { confirmEmail } from './routes/members/confirm-email.ts';
import { getActivationCode } from './routes/members/get-activation-code.ts';
import { getEmailCode } from './routes/members/get-email-code.ts';
import { getMemberProfile } from './routes/members/get-member-profile.ts';
import { registerMember } from './routes/members/register-member.ts';
import { updateMemberContact } from './routes/members/update-member-contact.ts';
import { livez } from './routes/service/livez.ts';
import { readyz } from './routes/service/readyz.ts';
import { version } from './routes/service/version.ts';
import { authorizationServer } from './routes/tokens/authorization-server.ts';
import { getUserInfo } from './routes/tokens/get-user-info.ts';
import { introspectToken } from './routes/tokens/introspect-token.ts';
import { issueToken } from './routes/tokens/issue-token.ts';
import { jwks } from './routes/tokens/jwks.ts';
import { openidConfiguration } from './routes/tokens/openid-configuration.ts';
import { pushAuthorizationRequest } from './routes/tokens/push-authorization-request.ts';
import { revokeToken } from './routes/tokens/revoke-token.ts';
import { cancelTransfer } from './routes/transfers/cancel-transfer.ts';
import { dryRunTransfer } from './routes/transfers/dry-run-transfer.ts';
import { getTransfer } from './routes/transfers/get-transfer.ts';
import { getTransferOptions } from './routes/transfers/get-transfer-options.ts';
import { initiateTransfer } from './routes/transfers/initiate-transfer.ts';
import { listTransfers } from './routes/transfers/list-transfers.ts';

import { createWebhook } from './routes/webhooks/create-webhook.ts';
import { deleteWebhook } from './routes/webhooks/delete-webhook.ts';
import { getWebhook } from './routes/webhooks/get-webhook.ts';
import { listWebhookAttempts } from './routes/webhooks/list-webhook-attempts.ts';
import { listWebhookDeliveries } from './routes/webhooks/list-webhook-deliveries.ts';
import { listWebhooks } from './routes/webhooks/list-webhooks.ts';
import { pingWebhook } from './routes/webhooks/ping-webhook.ts';
import { replayWebhook } from './routes/webhooks/replay-webhook.ts';
import { rotateWebhookSecret } from './routes/webhooks/rotate-webhook-secret.ts';
import { updateWebhook } from './routes/webhooks/update-webhook.ts';

/** Every operation, in the order of openapi.json and the reference. */
export const operations: readonly Operation[] = [
  issueToken,
  revokeToken,
  pushAuthorizationRequest,
  getUserInfo,
  listConsents,
  narrowConsent,
  withdrawConsent,
  introspectToken,
  authorizationServer,
  openidConfiguration,
  jwks,
  registerMember,
  activateMember,
  changePassword,
  getMemberProfile,
  updateMemberContact,
  confirmEmail,
  getAccount,
  listAccounts,
  getMemberAccounts,
  listTransactions,
  getBalances,
  initiateTransfer,
  dryRunTransfer,
  getTransferOptions,
  getTransfer,
  listTransfers,
  cancelTransfer,
  listInstructions,
  reportOutcome,
  coreHeartbeat,
  getCoreConnection,
  readEvents,
  getActivationCode,
  acknowledgeActivationCode,
  getEmailCode,
  acknowledgeEmailCode,
  deliverTransactions,
  deliverRecords,
  getAlertPreferences,
  updateAlertPreferences,
  listAlerts,
  markAlert,
  reportBounce,
  compareBalances,
  listBreaks,
  getBreak,
  updateBreak,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  pingWebhook,
  replayWebhook,
  listWebhookAttempts,
  listWebhookDeliveries,
  getFdxCustomer,
  listFdxAccounts,
  getFdxAccount,
  listFdxTransactions,
  livez,
  readyz,
  version,
];
