import type { FastifyRequest } from 'fastify';
import { relyingPartyOf } from '../../auth/index.ts';

/** The same page at `localhost`, for a demo that was opened by its address: passkeys need a name (WebAuthn level 3, section 5.1.3). */
export function addressByName(
  publicUrl: string,
  { headers: { host }, url }: Pick<FastifyRequest, 'headers' | 'url'>,
): string | undefined {
  const isAddress = new URL(publicUrl).hostname === '127.0.0.1' && host?.startsWith('127.0.0.1');
  return isAddress ? relyingPartyOf(publicUrl).origin + url : undefined;
}

/** Over http anyone on the way reads the password; only the same machine is safe. */
export function isSafeOrigin(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
