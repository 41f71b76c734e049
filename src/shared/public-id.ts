/** The form of public ids of persons, users, customers, accounts, transfers and providers. */
export const publicId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/**
 * Whether the text has the form of an id. Other text names nothing and never reaches the database, whose text cannot hold
 * every character that a caller can send.
 */
export function isPublicId(text: string): boolean {
  return publicId.test(text);
}
