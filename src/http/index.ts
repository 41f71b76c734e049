/**
 * The HTTP edge: the only place that knows Fastify, status numbers and what goes over the wire.
 *
 * Invariants: every request is authenticated before its body is read and validated before a use case sees it; every
 * refusal is a document of one family; nothing of the inside (SQL, stacks, other members' existence) goes out.
 */
export { createServer, type ServerOptions } from './server.ts';
export type { CommitDelay, Services } from './services.ts';
