import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { jwtBearer } from './jwt-bearer.ts';
import { password } from './password.ts';
import { refreshToken } from './refresh-token.ts';
import { saml2Bearer } from './saml2-bearer.ts';

/** The supported grants by `grant_type`. The metadata lists them. */
export const grants: ReadonlyMap<string, Grant> = new Map(
  [authorizationCode, clientCredentials, password, refreshToken, jwtBearer, saml2Bearer].map((grant) => [
    grant.grantType,
    grant,
  ]),
);
