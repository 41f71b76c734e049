import type { RefusalFacts } from '../tokens/oauth-error.ts';

/** An assertion or a provider's token is invalid. The message is one sentence that the caller may read. */
export class InvalidAssertionError extends Error {
  override readonly name = 'InvalidAssertionError';
  /** For the audit alone. */
  readonly facts: RefusalFacts;

  constructor(sentence: string, options: ErrorOptions & { readonly facts?: RefusalFacts } = {}) {
    super(sentence, options);
    this.facts = options.facts ?? { reason: 'assertion_invalid' };
  }
}
