/** A retry within this time after a lost response gets the same response again. */
const graceMillis = 10_000;

export interface RefreshFacts {
  readonly isRevoked: boolean;
  /** The family ends then. */
  readonly idleUntil: Date;
  /** The number of the newest token, and the time at which it was issued. */
  readonly generation: number;
  readonly rotatedAt: Date;
  /** The client is on, and the user may sign in: active, not locked by an operator, the password unchanged. */
  readonly isPermitted: boolean;
}

export interface PresentedToken {
  readonly generation: number;
  /** The hash is that of the newest token. */
  readonly isNewest: boolean;
  /** The newest token is derived from this one. */
  readonly precedesNewest: boolean;
}

/**
 * `rotate`: the newest token is exchanged for the next. `repeat`: the token before the newest one gets the newest again, within the
 * grace. `reuse`: a token that was exchanged before came back, so it or its successor was stolen, and the family ends.
 */
export function decideRefresh(
  family: RefreshFacts,
  presented: PresentedToken,
  now: Date,
): 'rotate' | 'repeat' | 'reuse' | 'refuse' {
  if (family.isRevoked || now >= family.idleUntil) return 'refuse';
  const isInGrace = presented.precedesNewest && now.getTime() <= family.rotatedAt.getTime() + graceMillis;
  if (presented.generation < family.generation && !isInGrace) return 'reuse';
  if (!family.isPermitted) return 'refuse';
  if (isInGrace) return 'repeat';
  return presented.isNewest ? 'rotate' : 'refuse';
}
