import { createHash } from 'node:crypto';
import * as Type from 'typebox/type';
import type { Actor } from '../../institutions/index.ts';
import type { Page, PageRequest, Position } from '../../shared/page.ts';
import { Problem } from '../../shared/problem.ts';
import type { OperationResponse } from '../operation.ts';

/**
 * A page of a list is a bare array, with the next page in `Link` (RFC 8288). The position in the link is opaque text, bound
 * to the list, its filters and the caller's institution: with others it would mean another position.
 */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, description: 'At most so many on a page; 50 when left out.' }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'Where the page before ended: from its `Link`, with the same filters.',
    }),
  ),
} as const;

export const nextLink = {
  Link: {
    description: '`<…>; rel="next"` where the next page is; missing on the last page.',
    optional: true,
  },
} as const;

const defaultLimit = 50;
const digestBytes = 9;
const wordBytes = 8;
/** The last millisecond of a Date. Keys stay far below, so only a forged position exceeds it. */
const mostWord = 8_640_000_000_000_000n;

/** A request for a page: its caller, URL and parameters. */
export interface ListRequest {
  readonly actor: Pick<Actor, 'institutionId'>;
  /** The URL as callers see it, without its query. */
  readonly url: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** The parameter of the position, if it is not `after`. */
  readonly positionName?: 'offset';
}

/** Throws Problem `invalid_request` for a position of another list. A position has one of these counts of numbers. */
export function readPage(listRequest: ListRequest, ...words: readonly number[]): PageRequest {
  const { limit, [listRequest.positionName ?? 'after']: after } = listRequest.query;
  return {
    limit: typeof limit === 'number' ? limit : defaultLimit,
    after: typeof after === 'string' ? decode(after, listRequest, words) : null,
  };
}

export function pageResponse<Item>(
  listRequest: ListRequest,
  page: Page<Item>,
  present: (item: Item) => object,
): OperationResponse {
  const next = page.next && linkTo(listRequest, page.next);
  return { status: 200, headers: { ...(next && { link: next }) }, body: page.items.map(present) };
}

function linkTo(listRequest: ListRequest, position: Position): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(listRequest.query)) {
    if (value !== undefined && name !== 'after') parameters.set(name, String(value));
  }
  parameters.set('after', positionText(position, listRequest));
  return `<${listRequest.url}?${parameters}>; rel="next"`;
}

/** Opaque to callers. */
export function positionText(position: Position, listRequest: ListRequest): string {
  const words = Buffer.alloc(position.length * wordBytes);
  for (const [place, word] of position.entries()) words.writeBigUInt64BE(word, place * wordBytes);
  return Buffer.concat([digest(listRequest), words]).toString('base64url');
}

function decode(text: string, listRequest: ListRequest, counts: readonly number[]): Position {
  const bytes = Buffer.from(text, 'base64url');
  const words = (bytes.length - digestBytes) / wordBytes;
  const ours =
    counts.includes(words) &&
    bytes.toString('base64url') === text &&
    bytes.subarray(0, digestBytes).equals(digest(listRequest));
  const position = ours
    ? Array.from({ length: words }, (_, place) => bytes.readBigUInt64BE(digestBytes + place * wordBytes))
    : [];
  if (!ours || position.some((word) => word > mostWord)) {
    throw new Problem('invalid_request', 'The position is not one of this list.', {
      errors: [
        listRequest.positionName === undefined
          ? { pointer: 'after', detail: 'Must be from the Link of a page with the same filters.' }
          : { pointer: 'offset', detail: 'Must be the nextOffset of a page with the same times.' },
      ],
    });
  }
  return position;
}

/** Leaves out the caller and the limit: authority is checked on each page, for any position. */
function digest({ actor, url, query }: ListRequest): Buffer {
  const { limit: _, after: __, offset: ___, ...filters } = query;
  const names = Object.keys(filters).sort();
  const bound = [actor.institutionId, new URL(url).pathname, names.map((name) => [name, filters[name]])];
  return createHash('sha256').update(JSON.stringify(bound)).digest().subarray(0, digestBytes);
}
