/** RFC 4648 section 6. */
export const standardAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Crockford's, for people: no I, L, O, U. */
export const readableAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Five bits a letter, without padding. */
export function base32(bytes: Uint8Array, alphabet: string): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** Text that a person typed in the readable alphabet: either case, spaces and dashes anywhere, O for 0, and I or L for 1. */
export function fromTyped(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
}
