import type { FastifySchemaValidationError } from 'fastify';
import { type InvalidPart, Problem } from '../../shared/problem.ts';
import { escapePointer } from '../../shared/text/json.ts';

/** A body of 64 KiB can be wrong in ten thousand places; a refusal names the first ones. */
const mostParts = 32;

/**
 * Returns Problem `invalid_request` with a pointer for each invalid part, and never repeats a value. A malformed id in the
 * path is Problem `not_found`.
 */
export function refuseInvalid(errors: readonly FastifySchemaValidationError[], location: string): Problem {
  if (location === 'params') return new Problem('not_found', 'There is nothing with this id.');
  const parts = errors.slice(0, mostParts).map((error) => describePart(error, location));
  const detail =
    errors.length === 1
      ? 'A part of the request is not valid.'
      : errors.length > mostParts
        ? `More parts of the request are not valid than are named here: the first ${mostParts}.`
        : 'Parts of the request are not valid.';
  return new Problem('invalid_request', detail, { errors: parts });
}

function describePart(error: FastifySchemaValidationError, location: string): InvalidPart {
  const { keyword, instancePath, params } = error;
  const missing = keyword === 'required' ? params.missingProperty : undefined;
  const unknown = keyword === 'additionalProperties' ? params.additionalProperty : undefined;
  const name = missing ?? unknown;
  const pointer = name === undefined ? instancePath : `${instancePath}/${escapePointer(String(name))}`;
  return {
    // Parameters have no structure, so they have plain names instead of JSON pointers.
    pointer: location === 'body' ? pointer : pointer.slice(1),
    detail: explain(error, location),
  };
}

function explain({ keyword, params, message }: FastifySchemaValidationError, location: string): string {
  switch (keyword) {
    case 'required':
      return 'Required.';
    case 'additionalProperties':
      return location === 'body' ? 'There is no such field.' : 'There is no such parameter.';
    case 'type':
      return `Must be of type ${params.type}.`;
    case 'enum':
      return `Must be one of ${(params.allowedValues as string[]).join(', ')}.`;
    case 'format':
      return `Must have the format ${params.format}.`;
    case 'pattern':
      return `Must match ${params.pattern}`;
    case 'minLength':
      return `Must have at least ${count(params.limit)}.`;
    case 'maxLength':
      return `Must have at most ${count(params.limit)}.`;
    case 'minimum':
      return `Must be at least ${params.limit}.`;
    case 'maximum':
      return `Must be at most ${params.limit}.`;
    case 'exclusiveMinimum':
      return `Must be greater than ${params.limit}.`;
    case 'not':
      return 'This value is reserved.';
    default:
      return `Is not valid: ${message}.`;
  }
}

function count(characters: unknown): string {
  return characters === 1 ? '1 character' : `${characters} characters`;
}
