/** How long a request waits for the core. */
export interface PreferredWait {
  readonly seconds: number;
  /** The caller asked for it. */
  readonly isPreferred: boolean;
}

const defaultSeconds = 5;
const mostSeconds = 30;

export const preferWaitHeader = {
  Prefer: `\`wait=N\` (RFC 7240): at an institution whose core keeps the books, the response waits up to N seconds for the core's decision, 0 to ${mostSeconds}; ${defaultSeconds} when left out.`,
} as const;

/** The preference `wait` of a Prefer header (RFC 7240 section 4.3). A preference that is not understood is ignored. */
export function readPreferredWait(header: string | undefined): PreferredWait {
  for (const preference of header?.split(',') ?? []) {
    const [, digits] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference) ?? [];
    if (digits !== undefined) return { seconds: Math.min(Number(digits), mostSeconds), isPreferred: true };
  }
  return { seconds: defaultSeconds, isPreferred: false };
}
