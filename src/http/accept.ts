import Negotiator from 'negotiator';
import { Problem } from '../problem.ts';

/** Problem `not_acceptable` where the Accept header leaves no room for the one media type there is; empty, it says nothing. */
export function requireAcceptable(accept: string | undefined, mediaType: string): void {
  if (!accept || accept === '*/*' || accept === mediaType) return;
  if (new Negotiator({ headers: { accept } }).mediaType([mediaType]) === undefined) {
    throw new Problem('not_acceptable', `The answer can only be ${mediaType}.`);
  }
}
