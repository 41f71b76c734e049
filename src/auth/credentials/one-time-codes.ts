import { randomBytes } from 'node:crypto';

const selectorBytes = 5;
const secretBytes = 16;
/** Crockford's base32: no I, L, O, U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

interface OneTimeCode {
  /** Finds the row, which holds only a hash of the secret. */
  readonly selector: string;
  readonly secret: string;
}

/** Returns 128 random bits and a selector, and both as one text for people. */
export function newCode(): OneTimeCode & { readonly code: string } {
  const selector = base32(randomBytes(selectorBytes));
  const secret = base32(randomBytes(secretBytes));
  return { selector, secret, code: `${selector}-${secret}` };
}

/** Accepts either case, a missing dash, O for 0, and I or L for 1. */
export function readCode(code: string): OneTimeCode {
  const plain = code.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  const selectorLength = base32(Buffer.alloc(selectorBytes)).length;
  return { selector: plain.slice(0, selectorLength), secret: plain.slice(selectorLength) };
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}
