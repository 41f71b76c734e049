/** On responses with balances. */
export const balancesAsOfHeader = {
  'Balances-As-Of': {
    description:
      'While the core that keeps the books is away: the time that the balances are true for. Each account has it as well.',
    optional: true,
  },
} as const;

export function staleBalances(asOf: Date | null): Readonly<Record<string, string>> {
  return asOf === null ? {} : { 'balances-as-of': asOf.toISOString() };
}
