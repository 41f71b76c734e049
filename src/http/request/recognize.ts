import type { FastifyRequest } from 'fastify';
import type { CallerFacts } from '../../shared/seams.ts';

/** Takes the facts of a caller who is recognized behind the edge, as they become certain. Later facts replace earlier ones. */
export function recognizerOf(request: FastifyRequest): (facts: CallerFacts) => void {
  return (facts) => {
    request.recognized = { ...request.recognized, ...facts };
  };
}
