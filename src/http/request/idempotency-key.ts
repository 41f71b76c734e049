import { createHash } from 'node:crypto';
import type { Actor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { derivedIdPrefix } from '../../transfers/index.ts';

/**
 * Derives a transfer id from an `Idempotency-Key` header: the same id for the same key of the same institution, client and
 * user, and another id for any other. Strangers can compute it, so a body may not name an id with this prefix. The key may
 * be quoted, as in the IETF draft, or bare. Throws Problem `invalid_request` unless it has 1 to 255 visible ASCII characters.
 *
 * Source: draft-ietf-httpapi-idempotency-key-header
 */
export function transferIdFromKey(header: string, actor: Actor): string {
  if (!/^[!-~]{1,255}$/.test(header) || header === '""') {
    throw new Problem('invalid_request', 'The idempotency key is not valid.', {
      errors: [{ pointer: 'Idempotency-Key', detail: 'Must have 1 to 255 visible ASCII characters.' }],
    });
  }
  const key = /^"(.+)"$/.exec(header)?.[1] ?? header;
  const userId = actor.kind === 'member' ? actor.userId : '';
  const hash = createHash('sha256');
  // Each part follows its length; otherwise the parts of two callers could concatenate to the same text.
  for (const part of [String(actor.institutionId), actor.clientId, userId, key]) {
    hash.update(`${Buffer.byteLength(part)}:${part}`);
  }
  return `${derivedIdPrefix}${hash.digest('base64url')}`;
}
