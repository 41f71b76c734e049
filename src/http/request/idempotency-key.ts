import { createHash } from 'node:crypto';
import type { Actor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { derivedIdPrefix } from '../../transfers/index.ts';

/**
 * The transfer id that an `Idempotency-Key` header stands for: the same for the same key of the same institution,
 * client and user, and for nobody else. Others can compute it, so that ids which begin so are taken from no body. The key may be quoted, as the IETF draft writes it, or bare, as most send it.
 * Problem `invalid_request` for anything but 1 to 255 visible ASCII characters.
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
  // Each part behind its length: else two callers could be read as one.
  for (const part of [String(actor.institutionId), actor.clientId, userId, key]) {
    hash.update(`${Buffer.byteLength(part)}:${part}`);
  }
  return `${derivedIdPrefix}${hash.digest('base64url')}`;
}
