/** The key of test services and of their commands: a command with another one is refused. */
export const testSecretKey = '00'.repeat(32);
