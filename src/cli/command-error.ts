/** A failed command. The message is one sentence for the person at the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
