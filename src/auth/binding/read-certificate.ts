import { hash, X509Certificate } from 'node:crypto';
import { InvalidPublicKeyError, readJwk } from '../keys/public-keys.ts';
import { InvalidCertificateError } from './invalid-certificate-error.ts';

/** A certificate that a client proves at the TLS handshake; its chain is not looked at (RFC 8705 section 2.2). */
export interface ClientCertificate {
  /** SHA-256 of the DER in base64url: `x5t#S256` (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  readonly startsAt: Date;
  readonly expiresAt: Date;
}

/** Longer ones are no single certificate of a client. */
const longestHeader = 8_192;
/** RFC 9440 section 2.2: an Item of the type Byte Sequence (RFC 8941 section 3.3.5), without parameters. */
const byteSequence = /^:([A-Za-z0-9+/]+={0,2}):$/;

/** A client sends the same certificate with every request, so that it is read once. */
const byHeader = new Map<string, ClientCertificate>();
const mostCertificates = 500;

/** The certificate of the header `Client-Cert` as a trusted proxy wrote it (RFC 9440 section 2). Throws InvalidCertificateError. */
export function readClientCert(header: string, now: Date): ClientCertificate {
  const certificate = byHeader.get(header) ?? remember(header, readHeader(header));
  requireValid(certificate, now);
  return certificate;
}

function remember(header: string, certificate: ClientCertificate): ClientCertificate {
  if (byHeader.size >= mostCertificates) byHeader.clear();
  byHeader.set(header, certificate);
  return certificate;
}

function readHeader(header: string): ClientCertificate {
  // Repeated headers are joined by a comma, which no byte sequence has.
  const encoded = header.length > longestHeader ? undefined : byteSequence.exec(header)?.[1];
  const der = Buffer.from(encoded ?? '', 'base64');
  if (der.length === 0 || der.toString('base64') !== encoded) {
    throw new InvalidCertificateError(
      'the header Client-Cert must hold one certificate in base64 between colons',
    );
  }
  return factsOf(parse(der), der);
}

/** A certificate in PEM that an operator registers. Its key is one of those that assertions may have. Throws InvalidCertificateError. */
export function readCertificatePem(text: string, now: Date): ClientCertificate {
  const [, body, ...more] = text.split(/-----(?:BEGIN|END) CERTIFICATE-----/);
  if (body === undefined || more.length > 1) {
    throw new InvalidCertificateError('the file must hold one certificate in PEM, without its chain');
  }
  const der = Buffer.from(body, 'base64');
  const parsed = parse(der);
  requireStrong(parsed);
  const certificate = factsOf(parsed, der);
  requireValid(certificate, now);
  return certificate;
}

function parse(der: Buffer): X509Certificate {
  try {
    const parsed = new X509Certificate(der);
    // PEM is read too, and bytes behind the certificate are skipped.
    if (parsed.raw.equals(der)) return parsed;
  } catch {
    // Refused below.
  }
  throw new InvalidCertificateError('it is no X.509 certificate in DER');
}

function factsOf({ validFromDate, validToDate }: X509Certificate, der: Buffer): ClientCertificate {
  return { thumbprint: hash('sha256', der, 'base64url'), startsAt: validFromDate, expiresAt: validToDate };
}

/** FAPI 2.0 Security Profile section 5.4.1: the key has the strength of those of assertions. */
function requireStrong({ publicKey }: X509Certificate): void {
  try {
    readJwk(publicKey.export({ format: 'jwk' }) as Readonly<Record<string, unknown>>);
  } catch (error) {
    if (!(error instanceof InvalidPublicKeyError)) throw error;
    throw new InvalidCertificateError(`its key is unfit: ${error.message.replace(/\.$/, '')}`);
  }
}

function requireValid({ startsAt, expiresAt }: ClientCertificate, now: Date): void {
  if (now < startsAt) throw new InvalidCertificateError('it is not valid yet');
  if (now >= expiresAt) throw new InvalidCertificateError('it has expired');
}
