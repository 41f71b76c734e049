/**
 * The HTTP edge: the only module that knows Fastify, status numbers and the wire.
 *
 * Invariants: every request is authenticated before its body is read, and validated before a use case sees it; every
 * refusal is a problem document or an OAuth error; no response holds SQL, stacks or the existence of other members.
 */
export type { OtherCells } from './forwarding/register.ts';
export { presentEvent } from './presenters.ts';
export { createServer, type ServerOptions } from './server/server.ts';
export type {
  AlertServices,
  CommitDelay,
  MailServices,
  Services,
  UnsubscribeServices,
  WebhookServices,
} from './services.ts';
