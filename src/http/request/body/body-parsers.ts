import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../shared/problem.ts';
import { parseJson } from '../../../shared/text/json.ts';
import type { MediaType } from '../../operation.ts';
import { unsupportedMediaType } from '../../problems.ts';
import { parseForm } from './form.ts';

/** Facts about a body beside its value. */
export interface BodyFacts {
  /** Source texts of its numbers by JSON pointer. */
  readonly numbers: ReadonlyMap<string, string>;
  /** Names that a form gave more than once. */
  readonly repeated: readonly string[];
}

export const noBodyFacts: BodyFacts = { numbers: new Map(), repeated: [] };

/** The parser of each media type. It returns the value of the body, and leaves the body's facts on the request. */
export const bodyParsers: Readonly<
  Record<
    Exclude<MediaType, 'application/x-ndjson'>,
    (request: FastifyRequest, body: Buffer) => Promise<unknown>
  >
> = {
  'application/json': async (request, body) => {
    const { value, numbers } = parseJson(decode(request, body));
    request.bodyFacts = { numbers, repeated: [] };
    return value;
  },
  'application/x-www-form-urlencoded': async (request, body) => {
    const { value, repeated } = parseForm(decode(request, body));
    request.bodyFacts = { numbers: new Map(), repeated };
    return value;
  },
};

/** Accepts UTF-8 only (RFC 8259, section 8.1). A byte order mark stays in the text, and the parser refuses it. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode({ headers }: FastifyRequest, body: Buffer): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^utf-?8$/i.test(charset)) throw unsupportedMediaType('The body must be in UTF-8.');
  if (encoding.toLowerCase() !== 'identity') throw unsupportedMediaType('The body must not be compressed.');
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new Problem('malformed_json', 'The body must be UTF-8.', { cause });
  }
}
