import Negotiator from 'negotiator';
import { Problem } from '../../shared/problem.ts';

/**
 * Problem `not_acceptable` where the Accept header leaves no room for the one media type there is; empty, it says nothing.
 * With the charset that answers have: many clients ask for it, and a range with parameters is for just those (RFC 9110,
 * section 12.5.1).
 */
export function requireAcceptable(accept: string | undefined, mediaType: string): void {
  if (!accept || accept === '*/*' || accept === mediaType) return;
  if (new Negotiator({ headers: { accept } }).mediaType([`${mediaType}; charset=utf-8`]) === undefined) {
    throw new Problem('not_acceptable', `The answer can only be ${mediaType}.`);
  }
}
