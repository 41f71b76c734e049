/** The sentence about an act that waits for a second person. */
export function proposed(
  act: string,
  { proposedBy, expiresAt }: { readonly proposedBy: string; readonly expiresAt: Date },
): string {
  return (
    `${act} is proposed by ${proposedBy}. Nothing has changed yet. ` +
    `Another person must run the same command before ${expiresAt.toISOString()}.`
  );
}
