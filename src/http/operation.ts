import type * as Type from 'typebox/type';
import type { Scope } from '../auth/index.ts';
import type { Origin } from '../events/index.ts';
import type { Actor, ClientActor, MemberActor } from '../institutions/index.ts';
import type { Problem, ProblemCode } from '../shared/problem.ts';
import type { Rate } from './limits/rate-limit.ts';
import type { Services } from './services.ts';

/** Whose token an operation takes, and whom its handler then sees. */
interface ActorOf {
  readonly none: undefined;
  readonly any: Actor;
  readonly client: ClientActor;
  readonly member: MemberActor;
}
export type TokenKind = keyof ActorOf;

export type MediaType = 'application/json' | 'application/x-www-form-urlencoded';

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}
type Examples = Readonly<Record<string, Example>>;

/** What an operation takes, parsed and validated. */
export interface Input<Params, Query, Body, Token extends TokenKind> {
  readonly actor: ActorOf[Token];
  /** Reads whether the caller's token is active, unless that was read. Problem `invalid_token`. */
  verifyCaller(): Promise<unknown>;
  /** From where it was asked. */
  readonly origin: Origin;
  /** What was asked for, as callers see it, without the query. */
  readonly url: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Source texts of the body's numbers by JSON pointer. */
  readonly numbers: ReadonlyMap<string, string>;
  /** Names that a form gave more than once. */
  readonly repeated: readonly string[];
  /**
   * Counts the request for the client, once it has proven who it is; operations with a token are counted before they
   * are handled. Problem `too_many_requests`.
   */
  countFor(clientId: string): void;
  /** Counts the request of the caller under a rate that is not the operation's own. Problem `too_many_requests`. */
  count(rate: Rate): void;
  /**
   * Does what is counted only when its outcome is known, by `note`: at once no more than the caller's share of this rate
   * has left. Problem `too_many_requests` if it is spent.
   */
  whileLeft<Result>(rate: Rate, act: () => Promise<Result>): Promise<Result>;
  /** Counts what has happened, and refuses nothing. */
  note(rate: Rate): void;
  readonly log: { warn(facts: object, message: string): void };
  /** A request header; of one sent twice the values joined by a comma. */
  header(name: string): string | undefined;
}

/** A document, or an outcome that is told as a problem. What is broken is thrown instead. */
export type Answer = { readonly headers?: Readonly<Record<string, string>> } & (
  | { readonly status: number; readonly body: unknown }
  | { readonly problem: Problem }
);

/** A header that not every such answer has. */
interface OptionalHeader {
  readonly description: string;
  readonly optional: true;
}

export interface AnswerDescription {
  readonly description: string;
  readonly schema: Type.TSchema;
  /** Name to description. */
  readonly headers?: Readonly<Record<string, string | OptionalHeader>>;
  readonly examples: Examples;
}

interface Description<
  Params extends Type.TObject,
  Query extends Type.TObject,
  Body extends Type.TSchema,
  Token extends TokenKind,
> {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** As OpenAPI writes it: `/accounts/{accountId}`. */
  readonly path: string;
  readonly tag: 'Token' | 'Members' | 'Accounts' | 'Transfers' | 'Events' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly token: Token;
  /** Needed beside the token. */
  readonly scope?: Scope;
  readonly params?: Params;
  readonly query?: Query;
  /** Parameters of `query` that are taken, and absent from openapi.json. */
  readonly undocumentedQuery?: readonly string[];
  /** Request headers beyond those that every operation reads: name to description. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: {
    readonly schema: Body;
    readonly mediaTypes: readonly MediaType[];
    readonly examples: Examples;
    /** Fields that may hold anything, since none of it is read. */
    readonly ignored?: readonly string[];
    /** Numbers that are taken as decimal strings too. */
    readonly decimals?: readonly string[];
    /** None at all is as good as an empty object. */
    readonly optional?: true;
  };
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Codes it may answer beside those of its kind (see commonProblems in openapi.ts). */
  readonly problems?: readonly ProblemCode[];
  /** By status, where the problem document has members of its own. */
  readonly problemSchemas?: Readonly<Record<number, Type.TObject>>;
  /** Likewise, where it has headers of its own. */
  readonly problemHeaders?: Readonly<Record<number, NonNullable<AnswerDescription['headers']>>>;
  /** Counted for each client, or for each user with a member's token, and shown in `RateLimit`. */
  readonly rate?: Rate;
  /**
   * When the token of a cached caller is verified: `first`, before `handle`; `beside` it, and before the response, for
   * reads; or by the handler itself, in the transaction that acts for the caller. Default: `beside` for a GET, else `first`.
   */
  readonly verifies?: 'first' | 'beside' | 'itself';
  /** 400 and 401 follow RFC 6749 instead of RFC 9457. */
  readonly oauth?: true;
  handle(
    services: Services,
    input: Input<Type.Static<Params>, Type.Static<Query>, Type.Static<Body>, Token>,
  ): Promise<Answer>;
}

/** One operation of the interface: what the server registers, and what openapi.json says. */
export type Operation = Description<Type.TObject, Type.TObject, Type.TSchema, TokenKind>;

/** Something for people to look at; not part of the interface. */
export interface Page {
  /** As OpenAPI writes it. */
  readonly path: string;
  handle(input: PageInput): Promise<PageAnswer>;
}

interface PageInput {
  /** Where callers find the service. */
  readonly publicUrl: string;
  readonly params: Readonly<Record<string, string>>;
  header(name: string): string | undefined;
}

export interface PageAnswer {
  readonly headers: Readonly<Record<string, string>> & { readonly 'content-type': string };
  readonly body: string | Uint8Array;
}

/** Ties a handler's types to the schemas beside it. */
export function operation<
  Token extends TokenKind,
  Params extends Type.TObject = Type.TObject<Record<never, never>>,
  Query extends Type.TObject = Type.TObject<Record<never, never>>,
  Body extends Type.TSchema = Type.TUndefined,
>(description: Description<Params, Query, Body, Token>): Operation {
  // What the schemas accept is what the handler takes; from here on only the schemas know.
  return description as unknown as Operation;
}
