import { promisify } from 'node:util';
import { authorizationServerMetadata, type Caller, type Identified } from '../../src/auth/index.ts';
import { createServer, type ServerOptions, type Services } from '../../src/http/index.ts';
import type { Actor } from '../../src/institutions/index.ts';
import { Basis, type Remembered, ValidatedMemory } from '../../src/memory/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client } from '../support/client.ts';

/** Two callers that always authenticate: tokens of the fake service below. */
export const clientToken = 'client-token';
export const memberToken = 'member-token';
/** A token of an app that stands on a member's consent. */
export const consentedToken = 'consented-token';
/** A client's token without any scope. */
export const scopelessToken = 'powerless-token';

const institutionId = 1 as InstitutionId;
const client: Actor = { kind: 'client', institutionId, clientId: 'quill-app' };
const member: Actor = {
  kind: 'member',
  institutionId,
  clientId: 'quill-app',
  userId: 'usr-1',
  userKey: 1n,
  personKey: 1n,
};
const consent = { consentId: 'any', version: 1, accountKeys: null, payingKeys: null };
const allScopes = [
  'account:read',
  'institution-users:read',
  'institution-users:write',
  'transfer:read',
  'transfer:write',
] as const;
const noPreferences = {
  isChosen: false,
  timeZone: 'America/New_York',
  language: 'en',
  quietHours: null,
  digestAt: null,
  securityChannels: ['EMAIL', 'INBOX'],
  rules: [],
} as const;
const callers: ReadonlyMap<string, Caller> = new Map([
  [clientToken, { actor: client, scopes: allScopes }],
  [memberToken, { actor: member, scopes: allScopes }],
  [consentedToken, { actor: { ...member, consent }, scopes: allScopes }],
  [scopelessToken, { actor: client, scopes: [] }],
]);

export const profile = {
  userId: 'usr-1',
  firstName: 'Wilhelmina',
  lastName: 'Quillfeather',
  emailAddress: 'wilhelmina@quillfeather.example',
  userRole: 'PRIMARY',
  userType: 'RETAIL',
  userStatus: { active: true, locked: false },
  customers: [{ customerId: 'cus-1', memberNumber: '700101' }],
  phoneNumbers: [{ phoneNumber: '+12025550143', phoneType: 'MOBILE' }],
} as const;

export const account = {
  accountId: 'acc-1',
  accountNumber: '70010110',
  diAccountType: 'CHECKING',
  description: 'Share Draft',
  category: 'DEPOSIT',
  currency: 'USD',
  availableMinor: 124_050n,
  currentMinor: 129_000n,
  open: true,
  closed: false,
  delinquent: false,
} as const;

/** Remembers nothing, since no response ever begins its time. */
function forgetfulMemory(): ValidatedMemory {
  const ask = async () => ({ at: '', isKept: true, changed: null, moved: null });
  return new ValidatedMemory({ ask, clock: () => new Date(), maxBytes: 1_000_000 });
}

export function identify(token: string, admit: (client: string) => void = () => {}): Identified {
  admit(token);
  const caller = callers.get(token);
  if (caller !== undefined) return { remembered: asRemembered(caller), verify: async () => caller };
  const refusal = 'The access token is malformed, expired, or not valid here.';
  return { verify: () => Promise.reject(new Problem('invalid_token', refusal)) };
}

/** Known, and not known to be active still. */
function asRemembered(value: Caller): Remembered<Caller> {
  const basis = new Basis(institutionId, 0);
  return { value, key: '', basis, bytes: 0, isStale: false, isUsed: true, usedAtMillis: 0, question: 0 };
}

/** The edge alone, over real HTTP: the service behind it does nothing, except the functions that a test replaces. */
export async function startEdge(replaced: Partial<Services> = {}, options: Partial<ServerOptions> = {}) {
  const services: Services = {
    at: async () => undefined,
    findLogo: async () => undefined,
    issueToken: async ({ countFor }) => {
      countFor?.('quill-app');
      return { access_token: 'a.b.c', token_type: 'Bearer', expires_in: 1800, scope: 'account:read' };
    },
    pushRequest: async () => ({ request_uri: 'urn:ietf:params:oauth:request_uri:x', expires_in: 90 }),
    // The operations of operators have no fakes: their tests run the service.
    operators: undefined as never,
    signIn: {
      authorize: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      signIn: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      forgottenPassword: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      activate: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      signInWithPasskey: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      openSecurityPage: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      addPasskey: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      removePasskey: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      signInWithCode: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      beginAuthenticator: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      confirmAuthenticator: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      removeAuthenticator: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      renewRecoveryCodes: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      endAccess: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      narrowConsent: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      answerConsent: async () => ({ kind: 'redirect', to: 'https://app.example/callback' }),
      logOut: async () => ({ kind: 'ask' }),
      logOutEverywhere: async () => ({ kind: 'left', to: undefined, institutionIds: [] }),
    },
    getUserInfo: async () => profile,
    listConsents: async () => [],
    narrowConsent: async () => {
      throw new Problem('not_found', 'There is no such consent.');
    },
    withdrawConsent: async () => {},
    revokeToken: async () => {},
    introspectToken: async () => ({ active: false }),
    authorizationServer: authorizationServerMetadata('http://sharedraft.test', { isOffered: false }),
    publishedKeys: async () => [],
    identify,
    proofNonce: () => 'fake-nonce',
    memory: forgetfulMemory(),
    hasStandbys: false,
    registerMember: async () => profile,
    activateMember: async () => profile,
    changePassword: async () => profile,
    getProfile: async () => profile,
    updateContact: async () => profile,
    confirmEmail: async () => profile,
    takeCoreTransactions: async function* () {
      yield [];
      return { posted: 0, already: 0, held: 0, changed: 0, released: 0, echo: 0, conflict: 0, refused: 0 };
    },
    takeCoreRecords: async function* () {
      yield [];
      return { added: 0, changed: 0, removed: 0, unchanged: 0, stale: 0, refused: 0 };
    },
    balancesAsOf: async () => null,
    getAccount: async () => account,
    listAccounts: async () => [account],
    listCustomerAccounts: async () => [account],
    listTransactions: async () => ({ items: [], next: null }),
    getBalances: async (_actor, accountId, { asOf }) => ({
      accountId,
      asOf: asOf ?? new Date('2026-11-20T15:04:05.678Z'),
      currency: 'USD',
      currentMinor: 129_000n,
      availableMinor: 124_050n,
    }),
    getEffectiveBalances: async (_actor, accountId, { effectiveDate }) => ({
      accountId,
      asOf: new Date('2026-11-20T15:04:05.678Z'),
      effectiveDate,
      currency: 'USD',
      currentMinor: 129_000n,
      availableMinor: 129_000n,
    }),
    initiateTransfer: async (_actor, { transferId, fromAccountId, toAccountId }) => ({
      kind: 'new',
      transfer: {
        id: transferId,
        transferType: 'STANDARD',
        fromAccountId,
        toAccountId,
        amountMinor: 10_500n,
        currencyCode: 'USD',
        status: 'COMPLETED',
        createdAt: new Date('2026-11-20T15:04:05.678Z'),
        failureCode: null,
        failureDetail: null,
        memo: null,
      },
    }),
    explainTransfer: async () => {
      throw new Problem('not_found', 'There is no such account.');
    },
    listTransferOptions: async (_actor, fromAccountId) => ({
      fromAccountId,
      currencyCode: 'USD',
      options: [],
    }),
    cancelTransfer: async () => {
      throw new Problem('not_found', 'There is no such transfer.');
    },
    getTransfer: async () => {
      throw new Problem('not_found', 'There is no such transfer.');
    },
    listTransfers: async () => ({ items: [], next: null }),
    awaitTransfer: async () => undefined,
    heardFromCore: async () => {},
    askInstructions: async () => [],
    reportOutcome: async () => ({ kind: 'unknown' }),
    getCoreConnection: async () => ({
      state: 'away',
      heardAt: null,
      heardClient: null,
      oldestUndeliveredAt: null,
      exposure: [],
    }),
    readEvents: async (_actor, start) => ({
      items: [],
      next: ('after' in start && start.after) || [0n, 0n, 0n],
    }),
    getCode: async () => {
      throw new Problem('not_found', 'There is no such event.');
    },
    acknowledgeCode: async () => {},
    alerts: {
      preferences: async () => noPreferences,
      replacePreferences: async () => noPreferences,
      list: async () => ({ items: [], next: null }),
      mark: async () => {
        throw new Problem('not_found', 'There is no such alert.');
      },
    },
    mail: { suppress: async () => {} },
    unsubscribe: { pageOf: () => undefined, stop: async () => {} },
    // biome-ignore lint/correctness/useYield: nothing is refused
    compareCoreBalances: async function* () {
      return {
        accounts: 0,
        postings: 0,
        inFlight: 0,
        differing: 0,
        opened: 0,
        changed: 0,
        closed: 0,
        refused: 0,
      };
    },
    breaks: {
      list: async () => ({ items: [], next: null }),
      get: async () => undefined,
      change: async () => undefined,
    },
    webhooks: {
      create: unknownEndpoint,
      list: async () => [],
      get: unknownEndpoint,
      change: unknownEndpoint,
      rotate: unknownEndpoint,
      delete: unknownEndpoint,
      ping: unknownEndpoint,
      replay: unknownEndpoint,
      attempts: unknownEndpoint,
      deliveries: unknownEndpoint,
    },
    noteRate: () => {},
    noteIdConflict: () => {},
    ready: async () => null,
    ...replaced,
  };
  const log: Record<string, unknown>[] = [];
  const server = await createServer(services, {
    publicUrl: 'http://sharedraft.test',
    appClientId: 'demo-web',
    corsOrigins: [],
    logLevel: 'info',
    logStream: { write: (line) => log.push(JSON.parse(line)) },
    requestTimeoutSeconds: 30,
    ...options,
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    address,
    port: Number(new URL(address).port),
    client: new Client(address),
    log,
    /** The number of open connections. */
    connections: () => promisify(server.server.getConnections).call(server.server),
    close: () => server.close(),
    [Symbol.asyncDispose]: async () => {
      await server.close();
    },
  };
}

async function unknownEndpoint(): Promise<never> {
  throw new Problem('not_found', 'There is no such endpoint.');
}
