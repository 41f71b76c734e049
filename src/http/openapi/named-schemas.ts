import {
  AlertChannelName,
  AlertLanguage,
  AlertMark,
  AlertPreferences,
  AlertPreferencesUpdate,
  AlertRule,
  AlertRuleType,
  AlertRuleUpdate,
  BounceReport,
  BounceResult,
  MemberAlert,
  QuietHours,
  QuietHoursUpdate,
} from '../alert-shapes.ts';
import { CodeDelivery } from '../code-handover.ts';
import { FdxError } from '../fdx/fdx-error.ts';
import {
  FdxAccount,
  FdxAccounts,
  FdxCurrency,
  FdxCustomer,
  FdxCustomerName,
  FdxPage,
  FdxTelephone,
  FdxTransaction,
  FdxTransactions,
} from '../fdx/shapes.ts';
import { TokenReference } from '../oauth.ts';
import { Consent, ConsentAccount } from '../routes/consents/consent.ts';
import { ConsentNarrowing } from '../routes/consents/narrow-consent.ts';
import { ConsentEnd } from '../routes/consents/withdraw-consent.ts';
import { Break, BreakNote } from '../routes/core/break-shapes.ts';
import { ComparisonAnswer, ComparisonSummary, CoreBalance } from '../routes/core/compare-balances.ts';
import { CoreRecord, CoreRecordPerson, RecordAnswer, RecordSummary } from '../routes/core/deliver-records.ts';
import { CoreTransaction, DeliveryAnswer, DeliverySummary } from '../routes/core/deliver-transactions.ts';
import { ShownAnswers } from '../routes/core/delivery.ts';
import { BreakUpdate } from '../routes/core/update-break.ts';
import { MemberActivation } from '../routes/members/activate-member.ts';
import { PasswordChange } from '../routes/members/change-password.ts';
import { EmailConfirmation } from '../routes/members/confirm-email.ts';
import { MemberRegistration } from '../routes/members/register-member.ts';
import { ContactChange } from '../routes/members/update-member-contact.ts';
import { ServiceVersion } from '../routes/service/version.ts';
import { AuthorizationServerMetadata } from '../routes/tokens/authorization-server.ts';
import { UserInfo } from '../routes/tokens/get-user-info.ts';
import { TokenConfirmation, TokenIntrospection } from '../routes/tokens/introspect-token.ts';
import { TokenRequest, TokenResponse } from '../routes/tokens/issue-token.ts';
import { Jwk, JwkSet } from '../routes/tokens/jwks.ts';
import {
  PushedAuthorizationRequest,
  PushedAuthorizationResponse,
} from '../routes/tokens/push-authorization-request.ts';
import { namedSchemas as shared } from '../schemas.ts';
import {
  ReplayedEvents,
  WebhookAttempt,
  WebhookDeletion,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookKeys,
  WebhookOrder,
  WebhookOrdering,
  WebhookPayload,
  WebhookReplay,
  WebhookRotation,
  WebhookStatus,
  WebhookUpdate,
} from '../webhook-shapes.ts';

/** Every object of the contract by its name in openapi.json, which generated clients use for its type. */
export const namedSchemas = {
  TokenRequest,
  TokenResponse,
  TokenReference,
  TokenConfirmation,
  TokenIntrospection,
  PushedAuthorizationRequest,
  PushedAuthorizationResponse,
  UserInfo,
  Consent,
  ConsentAccount,
  ConsentEnd,
  ConsentNarrowing,
  AuthorizationServerMetadata,
  JwkSet,
  Jwk,
  MemberRegistration,
  MemberActivation,
  PasswordChange,
  ContactChange,
  EmailConfirmation,
  CodeDelivery,
  CoreTransaction,
  CoreRecord,
  CoreRecordPerson,
  DeliveryAnswer,
  DeliverySummary,
  RecordAnswer,
  RecordSummary,
  ShownAnswers,
  CoreBalance,
  ComparisonAnswer,
  ComparisonSummary,
  Break,
  BreakNote,
  BreakUpdate,
  ServiceVersion,
  AlertPreferences,
  AlertPreferencesUpdate,
  AlertRule,
  AlertRuleUpdate,
  BounceReport,
  BounceResult,
  AlertRuleType,
  AlertChannel: AlertChannelName,
  AlertLanguage,
  QuietHours,
  QuietHoursUpdate,
  MemberAlert,
  AlertMark,
  WebhookEndpoint,
  WebhookPayload,
  WebhookOrdering,
  WebhookStatus,
  WebhookDeletion,
  ReplayedEvents,
  WebhookOrder,
  WebhookUpdate,
  WebhookKeys,
  WebhookRotation,
  WebhookReplay,
  WebhookAttempt,
  WebhookDelivery,
  FdxCustomer,
  FdxCustomerName,
  FdxTelephone,
  FdxAccounts,
  FdxAccount,
  FdxCurrency,
  FdxTransactions,
  FdxTransaction,
  FdxPage,
  FdxError,
  ...shared,
} as const;
