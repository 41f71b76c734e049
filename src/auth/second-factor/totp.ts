import { createHmac, timingSafeEqual } from 'node:crypto';
import { base32, standardAlphabet } from '../../shared/text/base32.ts';

/** RFC 4226 section 4 recommends 160 bits. */
export const secretBytes = 20;
const digits = 6;
const stepMillis = 30_000;
/** The clock of a phone may differ by a step (RFC 6238 section 5.2). */
const skewSteps = 1;

/** The code of a step (RFC 6238 with SHA-1, six digits and 30 seconds, the only form that every authenticator app knows). */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  // RFC 4226 section 5.3.
  const number = mac.readUInt32BE((mac[19] ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

export function stepAt(at: Date): number {
  return Math.floor(at.getTime() / stepMillis);
}

/** The step that the typed code belongs to, later than `lastStep`; undefined for a wrong code. Spaces and dashes do not count. */
export function stepOfCode(
  secret: Uint8Array,
  typed: string,
  { now, lastStep }: { readonly now: Date; readonly lastStep: number },
): number | undefined {
  const code = Buffer.from(typed.replaceAll(/[\s-]/g, ''));
  if (code.length !== digits) return undefined;
  const current = stepAt(now);
  let found: number | undefined;
  for (let step = current - skewSteps; step <= current + skewSteps; step += 1) {
    if (timingSafeEqual(Buffer.from(codeOf(secret, step)), code) && step > lastStep) found ??= step;
  }
  return found;
}

/** The secret as people type it into an app: groups of four. */
export function typedSecret(secret: Uint8Array): string {
  return base32(secret, standardAlphabet).replaceAll(/.{4}(?=.)/g, '$& ');
}

/** The address that an authenticator app opens (Key Uri Format). */
export function keyUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  // A colon separates the two parts of the label.
  const label = [issuer, account].map((part) => encodeURIComponent(part.replaceAll(':', ' '))).join(':');
  const facts = [
    `secret=${base32(secret, standardAlphabet)}`,
    `issuer=${encodeURIComponent(issuer.replaceAll(':', ' '))}`,
  ];
  return `otpauth://totp/${label}?${facts.join('&')}`;
}
