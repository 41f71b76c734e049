import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../institutions/index.ts';
import type { Basis, Remembered, ValidatedMemory } from '../../memory/index.ts';
import type { OperationResponse } from '../operation.ts';

/** A response 200 as it is sent. */
export interface Answer {
  readonly body: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/**
 * The answer that the caller got to the same request. Answers of a member are for no other member and no other consent, those of a
 * client for no other client; an id names its institution only together with its number.
 */
export function findAnswer(
  memory: ValidatedMemory,
  actor: Actor,
  request: FastifyRequest,
): Remembered<Answer> | undefined {
  return memory.find<Answer>(keyOf(actor, answeredUrl(request)));
}

/** The URL by which an answer is remembered. Answers have links, so each host name has its own. */
export function answeredUrl({ atHost, url }: FastifyRequest): string {
  return atHost === null ? url : atHost.authorizationServer.issuer + url;
}

/** Keeps the answer, unless a change may have come meanwhile. */
export function rememberAnswer(
  memory: ValidatedMemory,
  { actor, basis, url }: { readonly actor: Actor; readonly basis: Basis; readonly url: string },
  { headers, body: document }: { readonly headers?: OperationResponse['headers']; readonly body: unknown },
): Answer {
  // JSON.stringify writes exact numbers; a serializer made from the schema does not.
  const body = JSON.stringify(document);
  const link = headers?.link ?? '';
  const etag = `"${hash('sha256', link === '' ? body : `${link}\n${body}`, 'base64url').slice(0, 22)}"`;
  const answer: Answer = { body, etag, headers };
  memory.keep(keyOf(actor, url), answer, Buffer.byteLength(body) + 2 * link.length, basis);
  return answer;
}

export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  reply.header('etag', answer.etag);
  const wanted = request.headers['if-none-match'];
  if (wanted !== undefined && matches(wanted, answer.etag)) return reply.code(304).send();
  if (answer.headers !== undefined) reply.headers(answer.headers);
  return reply.code(200).header('content-type', 'application/json; charset=utf-8').send(answer.body);
}

/** RFC 9110 section 13.1.2: the comparison is weak, and an asterisk matches any answer. */
function matches(wanted: string, etag: string): boolean {
  return wanted.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

function keyOf(actor: Actor, url: string): string {
  if (actor.kind === 'client') return `client ${actor.institutionId} ${actor.clientId} ${url}`;
  const { institutionId, userKey, consent } = actor;
  // The answer of a consent before a change is never found after it.
  const covered = consent === undefined ? '' : ` ${consent.consentId} ${consent.version}`;
  return `member ${institutionId} ${userKey}${covered} ${url}`;
}
