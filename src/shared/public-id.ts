/** What ids look like to callers: of persons, users, customers, accounts, transfers and providers. */
export const publicId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/**
 * Whether the text could be the id of anything. What could not is not there, and is not asked of the database, whose
 * text cannot hold every character that a caller can send.
 */
export function isPublicId(text: string): boolean {
  return publicId.test(text);
}
