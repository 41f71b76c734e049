import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import type { Clock, Database, Directory, InstitutionId } from '../../storage/index.ts';
import {
  type AnchorRow,
  insertAnchor,
  insertAuditKey,
  selectAuditKeys,
  selectNewestAnchor,
  updateAuditKey,
} from './anchor-queries.ts';
import { type Chain, canonicalJson } from './canonical.ts';
import { type ChainEnd, selectChainEnd } from './chain-queries.ts';

/** Seals and opens the private keys of anchors. */
interface KeyVault {
  seal(purpose: string, secret: Uint8Array): Uint8Array;
  /** Throws if the bytes were sealed under another SECRET_KEY. */
  open(purpose: string, sealed: Uint8Array): Uint8Array;
  /** Undefined if it is sealed under the present key already. */
  reseal(purpose: string, sealed: Uint8Array): Uint8Array | undefined;
}

export interface AnchorDeps {
  readonly database: Database;
  readonly vault: KeyVault;
  readonly clock: Clock;
}

/** The statement that an anchor signs. */
interface AnchorClaims {
  readonly institution: number;
  readonly chain: Chain;
  readonly number: number;
  readonly hash: Buffer;
  readonly at: Date;
}

const headerType = 'sharedraft-audit-anchor+jws';

/** Signs the present end of a chain and stores the anchor. Undefined for a chain without an entry. */
export async function anchorChain(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  chain: Chain,
): Promise<AnchorRow | undefined> {
  const end = await deps.database.read(institutionId, (db) => selectChainEnd(db, chain));
  return end.number === 0 ? undefined : anchorAt(deps, institutionId, end);
}

/** Returns the anchor that stands at the end already, or signs one. */
export async function anchorAt(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  { chain, number, hash }: Pick<ChainEnd, 'chain' | 'number' | 'hash'>,
): Promise<AnchorRow> {
  const { database, clock } = deps;
  const standing = await database.read(institutionId, (db) => selectNewestAnchor(db, chain));
  if (standing?.number === number && standing.hash.equals(hash)) return standing;
  const signedAt = clock();
  const key = await signingKey(deps);
  const claims = { institution: institutionId, chain, number, hash, at: signedAt };
  const anchor = { chain, number, hash, signedAt, jws: signed(claims, key) };
  await database.write(institutionId, (db) => insertAnchor(db, anchor));
  return anchor;
}

const dayMillis = 24 * 60 * 60_000;

/** Signs the end of a chain if it has grown and its newest anchor is a day old. Returns the new anchor. */
export async function anchorDaily(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  chain: Chain,
): Promise<AnchorRow | undefined> {
  const [newest, end] = await deps.database.read(institutionId, (db) =>
    Promise.all([selectNewestAnchor(db, chain), selectChainEnd(db, chain)]),
  );
  const isDue = newest === undefined || deps.clock().getTime() - newest.signedAt.getTime() >= dayMillis;
  if (!isDue || end.number <= (newest?.number ?? 0)) return undefined;
  return anchorAt(deps, institutionId, end);
}

interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

/** The newest key that this SECRET_KEY opens, or a new one. Two processes may make one each: all keys verify. */
async function signingKey({ database, vault, clock }: AnchorDeps): Promise<SigningKey> {
  for (const { keyId, sealedPrivateKey } of await database.directory(selectAuditKeys)) {
    try {
      const der = vault.open(sealedFor(keyId), sealedPrivateKey);
      return {
        keyId,
        privateKey: createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' }),
      };
    } catch {
      // Sealed under another SECRET_KEY: its public part still verifies.
    }
  }
  const keyId = randomUUID();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  const row = {
    keyId,
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
    sealedPrivateKey: vault.seal(sealedFor(keyId), der),
  };
  await database.directory((db) => insertAuditKey(db, row, clock()));
  return { keyId, privateKey };
}

/** Seals the keys under the vault's present key. Returns how many it did, or would without `write`. */
export async function resealAuditKeys(
  db: Directory,
  vault: KeyVault,
  { write }: { readonly write: boolean },
): Promise<number> {
  let count = 0;
  for (const { keyId, sealedPrivateKey } of await selectAuditKeys(db)) {
    const resealed = resealedOrLost(vault, sealedFor(keyId), sealedPrivateKey);
    if (resealed === undefined) continue;
    if (write) await updateAuditKey(db, keyId, resealed);
    count += 1;
  }
  return count;
}

/** A key of a SECRET_KEY that was lost stays as it is: its public part verifies. */
function resealedOrLost(vault: KeyVault, purpose: string, sealed: Uint8Array): Uint8Array | undefined {
  try {
    return vault.reseal(purpose, sealed);
  } catch {
    return undefined;
  }
}

function sealedFor(keyId: string): string {
  return `audit key ${keyId}`;
}

function signed({ institution, chain, number, hash, at }: AnchorClaims, key: SigningKey): string {
  const header = { alg: 'EdDSA', kid: key.keyId, typ: headerType };
  const claims = { institution, chain, number, hash: hash.toString('hex'), at: at.toISOString() };
  const signing = `${base64(canonicalJson(header))}.${base64(canonicalJson(claims))}`;
  return `${signing}.${sign(null, Buffer.from(signing), key.privateKey).toString('base64url')}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Public keys by their ids; the parameter x of the JSON Web Key. */
export type AuditPublicKeys = ReadonlyMap<string, string>;

export async function readAuditPublicKeys(database: Database): Promise<AuditPublicKeys> {
  const rows = await database.directory(selectAuditKeys);
  return new Map(rows.map(({ keyId, publicKey }) => [keyId, publicKey]));
}

/** The statement of an anchor whose signature one of the keys verifies; otherwise undefined. */
export function openAnchor(jws: string, keys: AuditPublicKeys): AnchorClaims | undefined {
  const [header = '', claims = '', signature = '', ...more] = jws.trim().split('.');
  if (more.length > 0) return undefined;
  try {
    const { alg, kid, typ } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const x = keys.get(kid);
    if (alg !== 'EdDSA' || typ !== headerType || x === undefined) return undefined;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    if (!verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
      return undefined;
    const { institution, chain, number, hash, at } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return { institution, chain, number, hash: Buffer.from(hash, 'hex'), at: new Date(at) };
  } catch {
    return undefined;
  }
}
