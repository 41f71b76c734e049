import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthDeps } from '../deps.ts';
import { purposeAt } from '../hosts/at-host.ts';

/** A refresh token of a family. */
export interface RefreshToken {
  readonly text: string;
  readonly familyId: string;
  /** Its number in the family, from 0. */
  readonly generation: number;
}

type Marker = Pick<AuthDeps, 'vault' | 'host'>;

const secretBytes = 32;
const markBytes = 16;
const bodyBytes = 16 + 4 + secretBytes;

/** The first token of a family. */
export function firstRefreshToken(deps: Marker, familyId: string): RefreshToken {
  return write(deps, { familyId, generation: 0, secret: randomBytes(secretBytes) });
}

/** The next token. It is derived from this one and the vault, so a repetition gives the same. */
export function nextRefreshToken(deps: Marker, token: RefreshToken): RefreshToken {
  const secret = deps.vault.hash('refresh token after', token.text);
  return write(deps, { familyId: token.familyId, generation: token.generation + 1, secret });
}

/** The hash that the database stores. */
export function refreshTokenHash({ vault }: Pick<Marker, 'vault'>, token: RefreshToken): Buffer {
  return vault.hash('refresh token', token.text);
}

/** Undefined for a text without the mark of this issuer. */
export function readRefreshToken(deps: Marker, text: string): RefreshToken | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== bodyBytes + markBytes || bytes.toString('base64url') !== text) return undefined;
  const body = bytes.subarray(0, bodyBytes);
  if (!timingSafeEqual(bytes.subarray(bodyBytes), markOf(deps, body))) return undefined;
  const hex = body.toString('hex', 0, 16);
  const familyId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { text, familyId, generation: body.readUInt32BE(16) };
}

function write(
  deps: Marker,
  { familyId, generation, secret }: Omit<RefreshToken, 'text'> & { readonly secret: Buffer },
): RefreshToken {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(generation);
  const body = Buffer.concat([Buffer.from(familyId.replaceAll('-', ''), 'hex'), number, secret]);
  const text = Buffer.concat([body, markOf(deps, body)]).toString('base64url');
  return { text, familyId, generation };
}

function markOf(deps: Marker, body: Buffer): Buffer {
  return deps.vault
    .hash(purposeAt(deps, 'refresh token mark'), body.toString('base64url'))
    .subarray(0, markBytes);
}
