import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Caller, Identified } from '../../auth/index.ts';
import type { Remembered, ValidatedMemory } from '../../memory/index.ts';
import { type Answer, findAnswer, sendAnswer } from './remembered-answer.ts';

interface Kind {
  /** Answers of the operation are remembered. */
  readonly remembers: boolean;
  /** The operation needs the position of the log behind its arrival, also for a caller who was not remembered. */
  readonly asksForPosition: boolean;
}

/**
 * Verifies the caller, and then sends the remembered answer if it still holds, or calls `done`. Caller and answer are checked
 * by one question; a proof of the caller's key is recorded meanwhile. `admit` may throw a Problem.
 */
export function callerVerifier(
  memory: ValidatedMemory,
  { remembers, asksForPosition }: Kind,
  admit: (request: FastifyRequest, reply: FastifyReply, caller: Caller) => void,
) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    { remembered, proven, verify }: Identified,
    done: HookHandlerDoneFunction,
  ): void => {
    const goOn = (caller: Caller, answer: Remembered<Answer> | undefined) => {
      try {
        admit(request, reply, caller);
      } catch (error) {
        done(error as Error);
        return;
      }
      if (answer !== undefined && memory.isTrue(answer)) sendAnswer(request, reply, answer.value);
      else done();
    };
    const answerFor = ({ actor }: Caller) => (remembers ? findAnswer(memory, actor, request) : undefined);
    const read = () =>
      verify().then((caller) => {
        const answer = answerFor(caller);
        if (answer === undefined && !asksForPosition) goOn(caller, undefined);
        else
          memory.check(answer === undefined ? [] : [answer], (error) =>
            error === null ? goOn(caller, answer) : done(error),
          );
      }, done);

    if (remembered === undefined) {
      void read();
      return;
    }
    const answer = answerFor(remembered.value);
    memory.check(answer === undefined ? [remembered] : [remembered, answer], (error) => {
      if (error !== null) done(error);
      else if (!memory.isTrue(remembered)) void read();
      else if (proven === undefined) goOn(remembered.value, answer);
      else proven.then(() => goOn(remembered.value, answer), done);
    });
  };
}
