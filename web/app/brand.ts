/** The name that members read. Colors, space and type are in ../design/tokens.css. */
export const brand = { name: 'Sharedraft' } as const;
