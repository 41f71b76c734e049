import type { Problem } from '../shared/problem.ts';
import { type InstitutionId, institutionElsewhere, institutionMoving } from '../storage/index.ts';
import type { Institution, ServedState } from './queries.ts';

/** The refusal of requests in this state; undefined if the institution is served here, or does not exist. */
export function refusalOf(state: ServedState | null | undefined): Problem | undefined {
  if (state === 'arriving' || state === 'leaving') return institutionMoving();
  return state === 'left' || state === 'gone' ? institutionElsewhere() : undefined;
}

/**
 * The institutions that this cell does not serve, read from the directory at the start and twice a second. Writes do not rely on it,
 * since the database refuses them (check_fence()), nor do callers with a token of ours, whose status is read with the state.
 */
export class Served {
  #others: ReadonlyMap<InstitutionId, ServedState> = new Map();

  learn(institutions: readonly Institution[]): void {
    this.#others = new Map(
      institutions.flatMap(({ institutionId, served }) =>
        served === 'here' ? [] : [[institutionId, served]],
      ),
    );
  }

  /** Throws Problem `institution_moving`, `institution_elsewhere`. */
  readonly require = (institutionId: InstitutionId): void => {
    const refusal = refusalOf(this.#others.get(institutionId));
    if (refusal !== undefined) throw refusal;
  };
}
