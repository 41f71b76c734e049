/** The object without the members that are undefined. */
export function defined<T extends object>(object: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
