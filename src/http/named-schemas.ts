import { TokenReference } from './oauth.ts';
import { CodeDelivery } from './routes/acknowledge-activation-code.ts';
import { MemberActivation } from './routes/activate-member.ts';
import { AuthorizationServerMetadata } from './routes/authorization-server.ts';
import { PasswordChange } from './routes/change-password.ts';
import { EmailConfirmation } from './routes/confirm-email.ts';
import { TokenIntrospection } from './routes/introspect-token.ts';
import { TokenRequest, TokenResponse } from './routes/issue-token.ts';
import { Jwk, JwkSet } from './routes/jwks.ts';
import { MemberRegistration } from './routes/register-member.ts';
import { ContactChange } from './routes/update-member-contact.ts';
import { ServiceVersion } from './routes/version.ts';
import { namedSchemas as shared } from './schemas.ts';

/** Every object of the contract by its name in openapi.json, which generated clients use for its type. */
export const namedSchemas = {
  TokenRequest,
  TokenResponse,
  TokenReference,
  TokenIntrospection,
  AuthorizationServerMetadata,
  JwkSet,
  Jwk,
  MemberRegistration,
  MemberActivation,
  PasswordChange,
  ContactChange,
  EmailConfirmation,
  CodeDelivery,
  ServiceVersion,
  ...shared,
} as const;
