import type * as Type from 'typebox/type';
import type { CommandOrigin } from '../../events/index.ts';
import type { InstitutionId } from '../../institutions/index.ts';
import type { OperatorDeps, Right, SignedInOperator } from '../../operators/index.ts';
import type { Page, PageRequest } from '../../shared/page.ts';

/** The names in a path: `/members/{userId}/lock` has `{ userId: string }`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

interface Input<Path extends string, Query extends Type.TObject, Body extends Type.TSchema> {
  readonly operator: SignedInOperator;
  readonly institutionId: InstitutionId;
  /** For the audit: the operator's name and the request. */
  readonly origin: CommandOrigin;
  readonly params: ParamsOf<Path>;
  readonly query: Type.Static<Query>;
  readonly body: Type.Static<Body>;
  /** Of a list. */
  readonly page: PageRequest;
  /** Of a stream. */
  readonly reader: StreamReader;
}

/** The reader of a stream of events. */
export interface StreamReader {
  /** The id of the last event that it got, on a connection before. */
  readonly lastId: string | undefined;
  /** Gives back the slots of the request. The signal is aborted when the reader has left, and at once if there are too many. */
  stepAside(): AbortSignal;
}

interface Description<Path extends string, Query extends Type.TObject, Body extends Type.TSchema> {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Behind /operations/v1. */
  readonly path: Path;
  /** The right that the roles of the operator must have; `any` for everyone who is signed in. */
  readonly right: Right | 'any';
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  /** The document, or one item of a list. */
  readonly response: Type.TSchema;
  /** A list: the handler returns a page, whose position has so many numbers. */
  readonly positionWords?: number;
  /** The handler returns a LiveStream, which is sent as server-sent events. The request is no use of the session. */
  readonly isStream?: true;
  /** Undefined is 404. Everything else that is refused is thrown as a Problem. */
  handle(
    deps: OperatorDeps,
    input: Input<Path, Query, Body>,
  ): Promise<object | undefined> | Promise<Page<object> | undefined>;
}

/** An operation of operators, for the server and for openapi-operations.json. */
export type OperatorOperation = Description<string, Type.TObject, Type.TSchema>;

/** Ties a handler's types to its path and to the schemas beside it. */
export function operatorOperation<
  const Path extends string,
  Query extends Type.TObject = Type.TObject<Record<never, never>>,
  Body extends Type.TSchema = Type.TUndefined,
>(description: Description<Path, Query, Body>): OperatorOperation {
  // The schemas validate the handler's input, so its exact types can be dropped here.
  return description as unknown as OperatorOperation;
}

export const operationsBase = '/operations/v1';
