import { clientCredentials } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { jwtBearer } from './jwt-bearer.ts';
import { password } from './password.ts';
import { refreshToken } from './refresh-token.ts';
import { saml2Bearer } from './saml2-bearer.ts';

/** Every way to obtain a token, by `grant_type`; the metadata names them from here. */
export const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentials, password, refreshToken, jwtBearer, saml2Bearer].map((grant) => [
    grant.grantType,
    grant,
  ]),
);
