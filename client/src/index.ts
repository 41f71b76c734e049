export { dpopWith } from './dpop.ts';
export * from './errors.ts';
export { fromMinor, toMinor } from './money.ts';
export type { Page, Pages } from './pages.ts';
export type * from './schema.ts';
export { type EventBatch, type FollowOptions, Sharedraft, type SharedraftOptions } from './sharedraft.ts';
export {
  type Auth,
  type AuthOptions,
  type ClientCredentials,
  clientCredentials,
  type Grant,
  jwtBearer,
  password,
  privateKeyJwt,
  refreshToken,
} from './tokens.ts';
export type { Attempt, CallOptions, DpopProof } from './transport.ts';
export * as webhooks from './webhooks.ts';
