/** The database could not be started or found fit; its message is one sentence for the person at the terminal. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
