/** ok: nothing to do. warning: look at it in office hours. problem: act now. */
type Verdict = 'ok' | 'warning' | 'problem';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly detail: string;
  /** The next step; null if there is nothing to do. */
  readonly cure: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, verdict: 'ok', detail, cure: null };
}

export function warning(check: string, detail: string, cure: string): Finding {
  return { check, verdict: 'warning', detail, cure };
}

export function problem(check: string, detail: string, cure: string): Finding {
  return { check, verdict: 'problem', detail, cure };
}

/** A measured value with its bounds: a problem from the second, a warning from the first, and ok below. */
export function bounded(
  check: string,
  measured: {
    readonly value: number;
    readonly warnFrom: number;
    readonly problemFrom: number;
    readonly detail: string;
    readonly cure: string;
  },
): Finding {
  const { value, warnFrom, problemFrom, detail, cure } = measured;
  if (value >= problemFrom) return problem(check, detail, cure);
  return value >= warnFrom ? warning(check, detail, cure) : ok(check, detail);
}
