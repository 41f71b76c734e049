/** What test services and the commands beside them are set to: one that is another's is refused. */
export const testSecretKey = '00'.repeat(32);
