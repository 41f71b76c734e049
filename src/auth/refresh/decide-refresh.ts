/** A retry this soon after a lost answer is told that answer again. */
const graceMillis = 10_000;

export interface RefreshFacts {
  readonly revoked: boolean;
  /** When the family ends. */
  readonly idleUntil: Date;
  /** The number of its newest token, and since when that is. */
  readonly generation: number;
  readonly rotatedAt: Date;
  /** The client is on, and the user may log in: active, not locked by an operator, the password unchanged. */
  readonly bothStand: boolean;
}

export interface PresentedToken {
  readonly generation: number;
  /** It is the newest one, by its hash. */
  readonly isNewest: boolean;
  /** The newest is the one derived from it. */
  readonly precedesNewest: boolean;
}

/**
 * `rotate`: the newest is exchanged for the next. `repeat`: the one before it, while the newest is unused and fresh,
 * gets the newest again. `reuse`: a spent one came back, so either it or what replaced it was stolen: the family ends.
 */
export function decideRefresh(
  family: RefreshFacts,
  presented: PresentedToken,
  now: Date,
): 'rotate' | 'repeat' | 'reuse' | 'refuse' {
  if (family.revoked || now >= family.idleUntil) return 'refuse';
  const inGrace = presented.precedesNewest && now.getTime() <= family.rotatedAt.getTime() + graceMillis;
  if (presented.generation < family.generation && !inGrace) return 'reuse';
  if (!family.bothStand) return 'refuse';
  if (inGrace) return 'repeat';
  return presented.isNewest ? 'rotate' : 'refuse';
}
