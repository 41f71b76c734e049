import { issuerAt } from '../../auth/index.ts';
import type { Clue } from '../../cell-directory/index.ts';
import type { InstitutionId } from '../../institutions/index.ts';
import { parseForm } from '../request/body/form.ts';

/*
 * The facts of a request by which its institution is known. Nothing here is verified: a clue chooses a cell, and that cell verifies the
 * token, the secret or the assertion as ever.
 */

/** Longer ones are none of ours. */
const longestToken = 8_192;

/** The clues in the headers and the query, the surest first. `issuer` is that of our own tokens. */
export function cluesOfHead(
  { authorization, host, query }: Readonly<Record<'authorization' | 'host' | 'query', string | undefined>>,
  issuer: string,
): readonly Clue[] {
  const clues: Clue[] = [];
  const name = host?.replace(/\.?(?::\d+)?$/, '').toLowerCase();
  const own = name ? [issuer, issuerAt(name)] : [issuer];
  const [, scheme = '', credentials = ''] = /^(\w+) +([^ ]+)$/.exec(authorization ?? '') ?? [];
  if (/^(?:bearer|dpop)$/i.test(scheme)) clues.push(...clueOfToken(credentials, own));
  if (/^basic$/i.test(scheme)) {
    const [clientId = ''] = Buffer.from(credentials, 'base64').toString().split(':');
    if (clientId !== '') clues.push({ kind: 'client', clientId: unescaped(clientId) });
  }
  const named = query === undefined ? null : new URLSearchParams(query).get('client_id');
  if (named) clues.push({ kind: 'client', clientId: named });
  if (name && /[a-z]/.test(name) && !name.startsWith('[') && name !== new URL(issuer).hostname)
    clues.push({ kind: 'host', host: name });
  return clues;
}

/** The clues in the body of a token request or the like. */
export function cluesOfForm(body: Buffer, issuer: string): readonly Clue[] {
  const text = body.toString();
  let values: Record<string, unknown>;
  try {
    values = text.trimStart().startsWith('{') ? JSON.parse(text) : parseForm(text).value;
  } catch {
    return [];
  }
  const { client_id: clientId, client_assertion: proof, assertion } = values;
  const clues: Clue[] = [];
  if (typeof clientId === 'string' && clientId !== '') clues.push({ kind: 'client', clientId });
  if (typeof proof === 'string') {
    const { sub } = peek(proof);
    if (typeof sub === 'string') clues.push({ kind: 'client', clientId: sub });
  }
  if (typeof assertion === 'string') clues.push(...clueOfToken(assertion, [issuer]));
  return clues;
}

/** `own`: the issuers of our tokens at this host. */
function clueOfToken(token: string, own: readonly string[]): readonly Clue[] {
  const { iss, institution_id: institutionId } = peek(token);
  if (typeof iss !== 'string') return [];
  if (own.includes(iss) && Number.isSafeInteger(institutionId) && (institutionId as number) > 0)
    return [{ kind: 'institution', institutionId: institutionId as InstitutionId }];
  return own.includes(iss) ? [] : [{ kind: 'issuer', issuer: iss }];
}

/** The claims of a JWT, unverified; none for any other text. */
function peek(token: string): Readonly<Record<string, unknown>> {
  const [, payload, signature] = token.split('.', 3);
  if (payload === undefined || signature === undefined || token.length > longestToken) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** RFC 6749 section 2.3.1 encodes the id like a form, and many libraries do not. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
