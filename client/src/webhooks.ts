import { WebhookVerificationError } from './errors.ts';
import { parseJson } from './json.ts';
import type { Event } from './schema.ts';

type HeaderValues = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface UnwrapOptions {
  /** Largest difference between the signed time and the clock. Default: five minutes. */
  readonly toleranceSeconds?: number | undefined;
}

/**
 * Verifies a webhook after Standard Webhooks, and returns its event. `keys` are the endpoint's secrets (`whsec_…`) or public
 * keys (`whpk_…`); give both while one is being rotated. `body` is the request's body as it arrived, before any parsing.
 *
 * Throws WebhookVerificationError.
 */
export async function unwrap<Payload = Event>(
  body: string | Uint8Array,
  headers: HeaderValues,
  keys: string | readonly string[],
  { toleranceSeconds = 300 }: UnwrapOptions = {},
): Promise<Payload> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  if (!/^\d+$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a time');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('webhook-timestamp is too far from the clock');
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  for (const key of typeof keys === 'string' ? [keys] : keys) {
    for (const signature of signatures) {
      if (await isSignedBy(key, signature, signed)) return parseJson(text) as Payload;
    }
  }
  throw new WebhookVerificationError('No signature fits a key.');
}

async function isSignedBy(key: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [version, value = ''] = signature.split(',');
  const isPublicKey = key.startsWith('whpk_');
  if (version !== (isPublicKey ? 'v1a' : 'v1')) return false;
  const bytes = fromBase64(key.replace(/^wh(?:sec|pk)_/, ''));
  const algorithm = isPublicKey ? { name: 'Ed25519' } : { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  return crypto.subtle.verify(algorithm, imported, fromBase64(value), signed);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError('A key or signature is not base64.');
  }
}

function headerOf(headers: HeaderValues, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value !== 'string') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}
