import { createHash, createHmac, type KeyObject, randomUUID, sign } from 'node:crypto';

/**
 * SAML assertions signed as text. The text is in the form of exclusive canonicalization, so the signed bytes are the
 * text itself, without any XML library.
 */

export const samlIssuer = 'https://idp.lakeside.example/saml';
export const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';

export interface AssertionParts {
  readonly id?: string;
  readonly version?: string;
  readonly issueInstant?: string;
  readonly issuer?: string;
  readonly nameId?: string;
  /** Replaces the whole part. */
  readonly subject?: string;
  readonly confirmation?: string;
  readonly conditions?: string;
  readonly authn?: string;
  /** At the end. */
  readonly rest?: string;
}

export function at(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}

export function nameIdOf(value: string, format: string | null = persistent): string {
  return `<saml:NameID${format === null ? '' : ` Format="${format}"`}>${value}</saml:NameID>`;
}

export function confirmationOf(
  now: Date,
  attributes: Readonly<Record<string, string | undefined>> = {},
): string {
  const data = {
    NotOnOrAfter: at(now, 240),
    Recipient: 'http://sharedraft.test/auth/v2/token',
    ...attributes,
  };
  const method = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
  return `<saml:SubjectConfirmation Method="${method}">${element('saml:SubjectConfirmationData', data)}</saml:SubjectConfirmation>`;
}

export function conditionsOf(
  now: Date,
  { attributes = {}, inside }: { attributes?: Record<string, string | undefined>; inside?: string } = {},
): string {
  const validity = { NotBefore: at(now, -60), NotOnOrAfter: at(now, 300), ...attributes };
  return element('saml:Conditions', validity, inside ?? audienceOf('http://sharedraft.test'));
}

export function audienceOf(...audiences: string[]): string {
  const listed = audiences.map((audience) => `<saml:Audience>${audience}</saml:Audience>`);
  return `<saml:AudienceRestriction>${listed.join('')}</saml:AudienceRestriction>`;
}

/** Valid at `now`, except for `parts`; unsigned, with a mark at the place of the signature. */
export function anAssertion(now: Date, parts: AssertionParts = {}): string {
  const confirmation = parts.confirmation ?? confirmationOf(now);
  const attributes = {
    ID: parts.id ?? `_${randomUUID()}`,
    IssueInstant: parts.issueInstant ?? at(now, 0),
    Version: parts.version ?? '2.0',
  };
  const inside = [
    `<saml:Issuer>${parts.issuer ?? samlIssuer}</saml:Issuer>${signatureMark}`,
    parts.subject ??
      `<saml:Subject>${parts.nameId ?? nameIdOf('u-demo-member')}${confirmation}</saml:Subject>`,
    parts.conditions ?? conditionsOf(now),
    parts.authn ?? '',
    parts.rest ?? '',
  ].join('');
  return element(
    'saml:Assertion',
    { 'xmlns:saml': 'urn:oasis:names:tc:SAML:2.0:assertion', ...attributes },
    inside,
  );
}

export const signatureMark = '{{signature}}';

export interface SignatureParts {
  readonly method?: string;
  readonly digestMethod?: string;
  readonly canonicalization?: string;
  readonly transforms?: readonly string[];
  readonly uri?: string;
  /** A reference to something else, beside that to the assertion. */
  readonly secondReference?: string;
  readonly keyInfo?: string;
  /** Stands in place of the right digest. */
  readonly digest?: string;
}

export const methods = {
  rsaSha1: `${signatureNamespace}rsa-sha1`,
  rsaSha256: `${more}rsa-sha256`,
  rsaSha384: `${more}rsa-sha384`,
  rsaSha512: `${more}rsa-sha512`,
  rsaPss: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  ecdsaSha256: `${more}ecdsa-sha256`,
  ecdsaSha384: `${more}ecdsa-sha384`,
  hmacSha1: `${signatureNamespace}hmac-sha1`,
  hmacSha256: `${more}hmac-sha256`,
};
export const digests = {
  sha1: `${signatureNamespace}sha1`,
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: `${more}sha384`,
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
};
export const canonicalizations = {
  exclusive,
  withComments: `${exclusive}WithComments`,
  inclusive: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
};
export { enveloped };

/** Signs the assertion, and replaces the mark with the signature. */
export function signAssertion(
  assertion: string,
  key: KeyObject | string,
  parts: SignatureParts = {},
): string {
  return assertion.replace(signatureMark, () =>
    signatureOver(assertion.replace(signatureMark, ''), key, parts),
  );
}

/** The Signature element over a text that is already canonical. */
export function signatureOver(signed: string, key: KeyObject | string, parts: SignatureParts = {}): string {
  const id = / ID="([^"]*)"/.exec(signed)?.[1];
  const method = parts.method ?? methods.rsaSha256;
  const digestMethod = parts.digestMethod ?? digests.sha256;
  const digest =
    parts.digest ??
    createHash(`sha${digestMethod.slice(-3).replace('ha1', '1')}`)
      .update(signed)
      .digest('base64');
  const transforms = (parts.transforms ?? [enveloped, exclusive]).map((one) =>
    element('ds:Transform', { Algorithm: one }),
  );
  const reference = element(
    'ds:Reference',
    { URI: parts.uri ?? `#${id}` },
    `<ds:Transforms>${transforms.join('')}</ds:Transforms>${element('ds:DigestMethod', { Algorithm: digestMethod })}<ds:DigestValue>${digest}</ds:DigestValue>`,
  );
  const inside =
    element('ds:CanonicalizationMethod', { Algorithm: parts.canonicalization ?? exclusive }) +
    element('ds:SignatureMethod', { Algorithm: method }) +
    reference +
    (parts.secondReference ?? '');
  const canonical = element('ds:SignedInfo', { 'xmlns:ds': signatureNamespace }, inside);
  return element(
    'ds:Signature',
    { 'xmlns:ds': signatureNamespace },
    `<ds:SignedInfo>${inside}</ds:SignedInfo><ds:SignatureValue>${signatureValue(canonical, key, method)}</ds:SignatureValue>${parts.keyInfo ?? ''}`,
  );
}

function signatureValue(signed: string, key: KeyObject | string, method: string): string {
  const hash = `sha${/sha(1|256|384|512)/.exec(method)?.[1]}`;
  if (typeof key === 'string') return createHmac(hash, key).update(signed).digest('base64');
  const options = {
    key,
    dsaEncoding: 'ieee-p1363',
    ...(method === methods.rsaPss && { padding: 6, saltLength: 32 }),
  } as const;
  return sign(hash, Buffer.from(signed), options).toString('base64');
}

export function toParameter(xml: string): string {
  return Buffer.from(xml).toString('base64url');
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  inside = '',
): string {
  // Namespaces first, then by name, the order of canonicalization.
  const order = (name: string) => (name.startsWith('xmlns') ? ` ${name}` : name);
  const entries = Object.entries(attributes).toSorted(([a], [b]) => (order(a) < order(b) ? -1 : 1));
  const written = entries.flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${value}"`]));
  return `<${name}${written.join('')}>${inside}</${name}>`;
}
