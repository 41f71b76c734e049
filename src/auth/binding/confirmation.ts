/** The key or the certificate that a token is bound to: one member of the claim `cnf` (RFC 7800 section 3). */
export interface Confirmation {
  /** `jkt`: a key that the app proves with each request (RFC 9449). `x5t#S256`: the certificate of its connections (RFC 8705). */
  readonly method: 'jkt' | 'x5t#S256';
  /** SHA-256 in base64url. */
  readonly thumbprint: string;
}

export function keyConfirmation(thumbprint: string): Confirmation {
  return { method: 'jkt', thumbprint };
}

export function certificateConfirmation(thumbprint: string): Confirmation {
  return { method: 'x5t#S256', thumbprint };
}

/** The thumbprint of the key; undefined for a certificate and for no confirmation. */
export function keyThumbprintOf(confirmation: Confirmation | undefined): string | undefined {
  return confirmation?.method === 'jkt' ? confirmation.thumbprint : undefined;
}

export function certificateThumbprintOf(confirmation: Confirmation | undefined): string | undefined {
  return confirmation?.method === 'x5t#S256' ? confirmation.thumbprint : undefined;
}

export type Cnf = { readonly jkt: string } | { readonly 'x5t#S256': string };

export function cnfOf({ method, thumbprint }: Confirmation): Cnf {
  return method === 'jkt' ? { jkt: thumbprint } : { 'x5t#S256': thumbprint };
}

/** Undefined also for a confirmation of another kind and for two at once, which must not pass as none. */
export function readCnf(cnf: unknown): Confirmation | undefined {
  const { jkt, 'x5t#S256': x5t } = Object(cnf);
  if (typeof jkt === 'string' && x5t === undefined) return keyConfirmation(jkt);
  if (typeof x5t === 'string' && jkt === undefined) return certificateConfirmation(x5t);
  return undefined;
}
