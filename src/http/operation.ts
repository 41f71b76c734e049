import type * as Type from 'typebox/type';
import type { Scope } from '../auth/index.ts';
import type { Origin } from '../events/index.ts';
import type { Actor, ClientActor, CoveredAccounts, MemberActor } from '../institutions/index.ts';
import type { Basis, LogPosition } from '../memory/index.ts';
import type { Problem, ProblemCode } from '../shared/problem.ts';
import type { CallerFacts } from '../shared/seams.ts';
import type { Rate } from './limits/rate-limit.ts';
import type { Services } from './services.ts';

/** The kind of token that an operation takes, and the actor that its handler gets. */
interface ActorOf {
  readonly none: undefined;
  readonly any: Actor;
  readonly client: ClientActor;
  readonly member: MemberActor;
  /** A member's token that an app got by the member's consent. */
  readonly consented: MemberActor & { readonly consent: CoveredAccounts };
}
export type TokenKind = keyof ActorOf;

export type MediaType = 'application/json' | 'application/x-www-form-urlencoded' | 'application/x-ndjson';

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}
type Examples = Readonly<Record<string, Example>>;

/** The input of an operation, parsed and validated. */
export interface Input<Params, Query, Body, Token extends TokenKind> {
  readonly actor: ActorOf[Token];
  /** The scopes of the token. */
  readonly scopes: readonly Scope[];
  /** For an operation that verifies itself: reads once whether the token is active. Throws Problem `invalid_token`. */
  verifyCaller(): Promise<unknown>;
  /** Collects the things that the answer stands on, for an operation that `remembers`. */
  readonly basis: Basis;
  /** For an operation of history: a standby that has replayed so much may answer in place of the primary. Null: none may. */
  readonly seen: LogPosition | null;
  /** Transaction id and address of the request, for the audit. */
  readonly origin: Origin;
  /** The header `Client-Cert` of a trusted proxy (RFC 9440). */
  readonly certificate: string | undefined;
  /** The requested URL as callers see it, without the query. */
  readonly url: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The bytes of a streamed body. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Source texts of the body's numbers by JSON pointer. */
  readonly numbers: ReadonlyMap<string, string>;
  /** Names that a form gave more than once. */
  readonly repeated: readonly string[];
  /**
   * Counts the request for a client that has authenticated in the handler. Operations with a token are counted before
   * `handle`. Throws Problem `too_many_requests`.
   */
  countFor(clientId: string): void;
  /** Counts the request under another rate than the operation's own. Throws Problem `too_many_requests`. */
  count(rate: Rate): void;
  /**
   * Runs `act`, whose outcome decides whether `note` counts it. At most as many run at once as the caller's share has left.
   * Throws Problem `too_many_requests` if the share is spent.
   */
  whileLeft<Result>(rate: Rate, act: () => Promise<Result>): Promise<Result>;
  /** Counts, and never refuses. */
  note(rate: Rate): void;
  /**
   * Gives back the request's places among those in flight, so that it can wait for long. Aborted when the caller has left, or at
   * once if too many requests wait.
   */
  stepAside(): AbortSignal;
  /** Tells the log of a caller who is recognized in the handler. */
  recognize(facts: CallerFacts): void;
  readonly log: { warn(facts: object, message: string): void };
  /** A request header; the values of a repeated one are joined by a comma. */
  header(name: string): string | undefined;
}

/** A document, or an expected outcome as a problem. Faults are thrown. */
export type OperationResponse = {
  readonly headers?: Readonly<Record<string, string>>;
  /** The transfer that the response shows, for the log. */
  readonly transferId?: string;
} & (
  | { readonly status: number; readonly body: unknown }
  /** Texts that are sent as the caller reads them. */
  | { readonly status: number; readonly stream: AsyncIterable<string> }
  | { readonly problem: Problem }
);

/** A header that some of these responses lack. */
interface OptionalHeader {
  readonly description: string;
  readonly optional: true;
}

export interface ResponseDescription {
  readonly description: string;
  /** `application/json` unless the response is streamed. */
  readonly mediaType?: 'application/x-ndjson';
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
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in the form of OpenAPI: `/accounts/{accountId}`. */
  readonly path: string;
  readonly tag:
    | 'Token'
    | 'Members'
    | 'Accounts'
    | 'Transfers'
    | 'Events'
    | 'Alerts'
    | 'Webhooks'
    | 'Core'
    | 'Aggregators'
    | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly token: Token;
  /** The scope that the token must have. */
  readonly scope?: Scope;
  readonly params?: Params;
  readonly query?: Query;
  /** Accepted parameters of `query` that openapi.json leaves out. */
  readonly undocumentedQuery?: readonly string[];
  /** Request headers beyond those that every operation reads: name to description. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: {
    readonly schema: Body;
    readonly mediaTypes: readonly MediaType[];
    readonly examples: Examples;
    /** Accepted fields that are never read, of any type. */
    readonly ignored?: readonly string[];
    /** Numbers that may also be decimal strings. */
    readonly decimals?: readonly string[];
    /** A missing body counts as an empty object. */
    readonly optional?: true;
    /**
     * The handler reads the bytes as they arrive, for as long as they arrive; gzip is accepted. The schema describes one line, and
     * the handler validates it.
     */
    readonly streamed?: true;
  };
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  /** Problem codes beside those of every operation of its kind (commonProblems in openapi.ts). */
  readonly problems?: readonly ProblemCode[];
  /** Schemas of problem documents with additional members, by status. */
  readonly problemSchemas?: Readonly<Record<number, Type.TObject>>;
  /** Additional headers of problem documents, by status. */
  readonly problemHeaders?: Readonly<Record<number, NonNullable<ResponseDescription['headers']>>>;
  /** Counted per client, or per user of a member token, and shown in `RateLimit`. */
  readonly rate?: Rate;
  /** The token of a remembered caller is verified by the handler, in the transaction that acts for the caller; else before it. */
  readonly verifiesItself?: true;
  /** A response 200 is remembered with its `ETag`, and returned while all that it stands on is unchanged (ADR 33). */
  readonly remembers?: true;
  /** Its rows may be read from a standby that has replayed every commit that was confirmed before the request (ADR 70). */
  readonly isHistory?: true;
  /** 400 and 401 follow RFC 6749 instead of RFC 9457. */
  readonly oauth?: true;
  /** Errors have the shape of FDX, and each response the header `x-fapi-interaction-id`. */
  readonly fdx?: true;
  handle(
    services: Services,
    input: Input<Type.Static<Params>, Type.Static<Query>, Type.Static<Body>, Token>,
  ): Promise<OperationResponse>;
}

/** One operation of the interface, for the server and for openapi.json. */
export type Operation = Description<Type.TObject, Type.TObject, Type.TSchema, TokenKind>;

/** A page for people; not part of the interface. */
export interface Page {
  /** The path in the form of OpenAPI. A `*` at its end stands for the rest, as the parameter `*`. */
  readonly path: string;
  handle(input: PageInput): Promise<PageResponse>;
}

interface PageInput {
  /** Base URL of the service as callers see it. */
  readonly publicUrl: string;
  /** The client of the member's app at `/app`. */
  readonly appClientId: string;
  readonly params: Readonly<Record<string, string>>;
  header(name: string): string | undefined;
  /** The logo of an institution, by its hash. */
  findLogo(hash: string): Promise<Uint8Array | undefined>;
}

export interface PageResponse {
  /** Default: 200. */
  readonly status?: number;
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
  // The schemas validate the handler's input, so its exact types can be dropped here.
  return description as unknown as Operation;
}
