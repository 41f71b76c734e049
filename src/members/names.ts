/**
 * Whether two spellings of a username or an e-mail address are one: without case, in ASCII alone, as the database
 * compares them. To `toLowerCase` the Kelvin sign is a k.
 */
export function isAlike(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && fold(one) === fold(other);
}

function fold(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
