/** The state of an account as the service tells it. */
interface State {
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
}

interface Mark {
  readonly words: string;
  readonly kind: 'bad' | 'warn';
}

const effects: Readonly<Record<string, string>> = {
  EXCLUDE_ALL: 'nothing moves',
  EXCLUDE_AS_FROM: 'pays nothing out',
  EXCLUDE_AS_TO: 'takes nothing in',
};

/** All that sets an account apart from an open one without restrictions, in words. */
export function marksOf({ closed, delinquent, coreRestriction, operatorRestriction }: State): Mark[] {
  const marks: Mark[] = [];
  if (closed) marks.push({ words: 'Closed', kind: 'bad' });
  if (operatorRestriction === 'EXCLUDE_ALL') marks.push({ words: 'Frozen by an operator', kind: 'bad' });
  else if (operatorRestriction !== null)
    marks.push({ words: `Operator: ${effectOf(operatorRestriction)}`, kind: 'bad' });
  if (coreRestriction !== null) marks.push({ words: `Core: ${effectOf(coreRestriction)}`, kind: 'bad' });
  if (delinquent) marks.push({ words: 'Payment overdue', kind: 'warn' });
  return marks;
}

function effectOf(restriction: string): string {
  return effects[restriction] ?? restriction;
}
