import { createHash } from 'node:crypto';
import { type Directory, type InstitutionId, sql } from '../../storage/index.ts';
import { findInstitution } from '../queries.ts';

/** An institution as its pages show it. */
export interface Brand {
  readonly name: string;
  /** Null: that of the service. */
  readonly color: string | null;
  /** Null: none. */
  readonly logoHash: string | null;
  /** The app of the page, which names the cell that has the logo. Undefined on a page of operators: the cell that served it has both. */
  readonly clientId?: string | undefined;
}

/** Without a name if there is no such institution. */
export async function findBrand(
  db: Directory,
  { institutionId, clientId }: { readonly institutionId: InstitutionId; readonly clientId: string },
): Promise<Brand> {
  const institution = await findInstitution(db, institutionId);
  const { name = '', brandColor = null, logoHash = null } = institution ?? {};
  return { name, color: brandColor, logoHash, clientId };
}

/** As large as a request to change it can be. */
export const mostLogoBytes = 32_768;
const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

export function isLogo(image: Uint8Array): boolean {
  return image.length <= mostLogoBytes && pngSignature.equals(image.subarray(0, pngSignature.length));
}

export function logoHashOf(image: Uint8Array): string {
  return createHash('sha256').update(image).digest('hex');
}

const logoByHash = sql('institutions_logo', 'select logo from institutions where logo_hash = $1 limit 1');

/** The logo with this hash, of whichever institution. */
export async function findLogo(db: Directory, hash: string): Promise<Uint8Array | undefined> {
  const { rows } = await db.query<{ readonly logo: Uint8Array | null }>(logoByHash, [hash]);
  return rows[0]?.logo ?? undefined;
}
