/** Nobody is signed in. The application shows its way to the sign-in page, and no screen shows an error. */
export class SignedOutError extends Error {
  override readonly name = 'SignedOutError';
}
