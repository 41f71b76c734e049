/** Where tokens are issued, as callers see it. */
export function tokenEndpointOf(issuer: string): string {
  return `${issuer}/auth/v2/token`;
}
