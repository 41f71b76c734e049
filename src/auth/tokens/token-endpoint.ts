/** The URL of the token operation. */
export function tokenEndpointOf(issuer: string): string {
  return `${issuer}/auth/v2/token`;
}
