import type { Operation } from './operation.ts';
import { acknowledgeActivationCode } from './routes/acknowledge-activation-code.ts';
import { acknowledgeEmailCode } from './routes/acknowledge-email-code.ts';
import { activateMember } from './routes/activate-member.ts';
import { authorizationServer } from './routes/authorization-server.ts';
import { cancelTransfer } from './routes/cancel-transfer.ts';
import { changePassword } from './routes/change-password.ts';
import { confirmEmail } from './routes/confirm-email.ts';
import { dryRunTransfer } from './routes/dry-run-transfer.ts';
import { getAccount } from './routes/get-account.ts';
import { getActivationCode } from './routes/get-activation-code.ts';
import { getBalances } from './routes/get-balances.ts';
import { getEmailCode } from './routes/get-email-code.ts';
import { getMemberAccounts } from './routes/get-member-accounts.ts';
import { getMemberProfile } from './routes/get-member-profile.ts';
import { getTransfer } from './routes/get-transfer.ts';
import { getTransferOptions } from './routes/get-transfer-options.ts';
import { initiateTransfer } from './routes/initiate-transfer.ts';
import { introspectToken } from './routes/introspect-token.ts';
import { issueToken } from './routes/issue-token.ts';
import { jwks } from './routes/jwks.ts';
import { listAccounts } from './routes/list-accounts.ts';
import { listTransactions } from './routes/list-transactions.ts';
import { listTransfers } from './routes/list-transfers.ts';
import { livez } from './routes/livez.ts';
import { openidConfiguration } from './routes/openid-configuration.ts';
import { readEvents } from './routes/read-events.ts';
import { readyz } from './routes/readyz.ts';
import { registerMember } from './routes/register-member.ts';
import { revokeToken } from './routes/revoke-token.ts';
import { updateMemberContact } from './routes/update-member-contact.ts';
import { version } from './routes/version.ts';

/** Every operation, in the order in which openapi.json and the reference tell them. */
export const operations: readonly Operation[] = [
  issueToken,
  revokeToken,
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
  readEvents,
  getActivationCode,
  acknowledgeActivationCode,
  getEmailCode,
  acknowledgeEmailCode,
  livez,
  readyz,
  version,
];
