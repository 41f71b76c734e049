import * as Type from 'typebox/type';
import {
  type Answer,
  SlowLineError,
  TooManyDifferencesError,
  TruncatedError,
} from '../../../core-connection/index.ts';
import { describeError } from '../../../shared/describe-error.ts';
import { Problem } from '../../../shared/problem.ts';

/** The schema of the last line of a complete delivery, by the results of its lines. */
export function summarySchema(results: readonly string[]) {
  return Type.Object(
    Object.fromEntries(
      results.map((result) => [
        result,
        Type.Optional(Type.Integer({ description: `Lines with the result ${result}.` })),
      ]),
    ),
    { description: 'The number of lines by result. The delivery is complete.' },
  );
}

/** The schema of a line of the response: the answer to a line, or the summary at the end. */
export function answerSchema(results: readonly string[], summary: ReturnType<typeof summarySchema>) {
  return Type.Object(
    {
      line: Type.Optional(Type.Integer({ description: 'The line, from 1.' })),
      id: Type.Optional(Type.String({ description: 'The id of the line, if it has a valid one.' })),
      result: Type.Optional(
        Type.Unsafe<string>({
          type: 'string',
          description: `Result of the line: ${results.join(', ')}. Later versions may add more.`,
        }),
      ),
      code: Type.Optional(Type.String({ description: 'With `refused` and `conflict`: the reason.' })),
      detail: Type.Optional(Type.String({ description: 'The reason in a sentence.' })),
      summary: Type.Optional(summary),
    },
    { description: 'The answer to a line of a delivery. The last one is the summary.' },
  );
}

export function formatOf(contentType = ''): 'lines' | 'document' {
  return contentType.startsWith('application/json') ? 'document' : 'lines';
}

export const ShownAnswers = Type.Unsafe<'all' | 'refused'>({
  type: 'string',
  enum: ['all', 'refused'],
  description:
    '`refused`: only lines that were refused, are stale or in conflict, and the summary. Default: `all`.',
});

/**
 * The answers as NDJSON. The first ones are awaited here, so that a delivery which cannot begin is a problem with its status. An
 * error after that is the last line, since the status is sent.
 */
export async function answersOf(
  answers: AsyncGenerator<readonly Answer[], object>,
  shown: 'all' | 'refused',
  log: { warn(facts: object, message: string): void },
): Promise<AsyncIterable<string>> {
  const first = await answers.next().catch((error) => {
    const isOfDelivery = [TruncatedError, SlowLineError, TooManyDifferencesError].some(
      (kind) => error instanceof kind,
    );
    if (isOfDelivery) return { error };
    throw error;
  });
  return textOf(first, answers, { shown, log });
}

/** Results of lines that the core may have to send again, or otherwise. */
const notTaken = ['refused', 'conflict', 'stale'];

type Step = IteratorResult<readonly Answer[], object> | { readonly error: unknown };

async function* textOf(
  first: Step,
  answers: AsyncGenerator<readonly Answer[], object>,
  {
    shown,
    log,
  }: { readonly shown: 'all' | 'refused'; readonly log: { warn(facts: object, message: string): void } },
): AsyncGenerator<string> {
  let answered = 0;
  try {
    let step = first;
    for (; !('error' in step) && !step.done; step = await answers.next()) {
      let text = '';
      for (const answer of step.value) {
        answered = answer.line;
        if (shown === 'all' || notTaken.includes(answer.result)) {
          text += `${JSON.stringify(answer)}\n`;
        }
      }
      if (text !== '') yield text;
    }
    if ('error' in step) throw step.error;
    yield `${JSON.stringify({ summary: step.value })}\n`;
  } catch (error) {
    yield `${JSON.stringify(lastWord(error, answered, log))}\n`;
  } finally {
    await answers.return({});
  }
}

/** The reason why a delivery ended early. The lines before `line` were answered. */
function lastWord(
  error: unknown,
  answered: number,
  log: { warn(facts: object, message: string): void },
): object {
  const refused = (line: number, code: string, detail: string) => ({ line, result: 'refused', code, detail });
  if (error instanceof TruncatedError) {
    return refused(
      error.line,
      'truncated',
      'The delivery ends within this line. Send it again from its beginning.',
    );
  }
  if (error instanceof SlowLineError) {
    return refused(error.line, 'request_timeout', 'The line did not arrive in time.');
  }
  if (error instanceof TooManyDifferencesError) {
    return refused(answered + 1, 'too_many_differences', error.message);
  }
  log.warn({ error: describeError(error) }, 'a delivery of the core ended early');
  const known = error instanceof Problem ? error : new Problem('internal_error', 'The service has failed.');
  return refused(
    answered + 1,
    known.code,
    `${known.detail} Lines from here on have no answer: send the delivery again.`,
  );
}
