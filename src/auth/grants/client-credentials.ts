import type { Grant } from './grant.ts';

/** RFC 6749 section 4.4: the token acts for the institution, within the client's scopes. */
export const clientCredentials: Grant = {
  grantType: 'client_credentials',
  authorize: async () => ({ use: 'client' }),
};
