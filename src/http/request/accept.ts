import Negotiator from 'negotiator';
import { Problem } from '../../shared/problem.ts';

/**
 * Throws Problem `not_acceptable` if the Accept header excludes the one media type that is served. An empty header excludes
 * nothing. The type has a charset: many clients ask for it, and a range with parameters matches only these (RFC 9110,
 * section 12.5.1).
 */
export function requireAcceptable(accept: string | undefined, mediaType: string): void {
  if (!accept || accept === '*/*' || accept === mediaType) return;
  if (new Negotiator({ headers: { accept } }).mediaType([`${mediaType}; charset=utf-8`]) === undefined) {
    throw new Problem(
      'not_acceptable',
      `The response can only be ${mediaType}. Send that in Accept, or leave Accept out.`,
    );
  }
}

/** Whether the Accept-Encoding header allows gzip by name (RFC 9110, section 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(acceptEncoding ?? '');
}
