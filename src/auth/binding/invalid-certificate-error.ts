/** A client certificate that is refused. The message is the end of a sentence. */
export class InvalidCertificateError extends Error {
  override readonly name = 'InvalidCertificateError';
}
