import type { PresentedToken } from '../../src/institutions/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import type { openTransferDesk } from '../../src/transfers/index.ts';

const checks = new WeakMap<PresentedToken, () => Promise<unknown>>();

/** A token that is active if `check` resolves when a batch reads it. */
export function aToken(check: () => Promise<unknown>): PresentedToken {
  const token = { tokenId: 'any', institutionId: 1 as InstitutionId, clientId: 'app', clientEpoch: 1 };
  checks.set(token, check);
  return token;
}

/** For a desk whose callers have tokens of `aToken`, or none. */
export const inactiveTokens: Parameters<typeof openTransferDesk>[1]['inactiveTokens'] = async (
  _tx,
  tokens,
) => {
  const active = await Promise.all(
    tokens.map((token) =>
      checks
        .get(token)?.()
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  return new Set(tokens.filter((_token, index) => active[index] === false));
};
