import type { Problem } from '../shared/problem.ts';
import { type InstitutionId, institutionElsewhere, institutionMoving } from '../storage/index.ts';
import type { Institution, ServedState } from './queries.ts';

/** The refusal of requests in this state; undefined if the institution is served here, or does not exist. */
export function refusalOf(state: ServedState | null | undefined): Problem | undefined {
  if (state === 'arriving' || state === 'leaving') return institutionMoving();
  return state === 'left' || state === 'gone' ? institutionElsewhere() : undefined;
}

/**
 * The institutions that this cell serves, and those that it does not, read from the directory at the start and twice a second. Writes do not rely on it,
 * since the database refuses them (check_fence()), nor do callers with a token of ours, whose status is read with the state.
 */
export class Served {
  #states: ReadonlyMap<InstitutionId, ServedState> = new Map();

  learn(institutions: readonly Institution[]): void {
    this.#states = new Map(institutions.map(({ institutionId, served }) => [institutionId, served]));
  }

  /** Undefined for an institution that this cell has never had, or has had for less than half a second. */
  stateOf(institutionId: InstitutionId): ServedState | undefined {
    return this.#states.get(institutionId);
  }

  /** Throws Problem `institution_moving`, `institution_elsewhere`. */
  readonly require = (institutionId: InstitutionId): void => {
    const refusal = refusalOf(this.#states.get(institutionId));
    if (refusal !== undefined) throw refusal;
  };
}
