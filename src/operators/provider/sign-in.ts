import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { DecryptionError, newSecret, relyingPartyOf, signJwt } from '../../auth/index.ts';
import { appendAudit, wholeService } from '../../events/index.ts';
import { findInstitutionByCode } from '../../institutions/index.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import {
  insertOperator,
  lockOperatorBySubject,
  type OperatorRow,
  updateOperator,
} from '../access/operator-queries.ts';
import { type OperatorRole, operatorRoles } from '../access/rights.ts';
import { endSessionsOf } from '../access/session-queries.ts';
import { beginSession, type SignInFrom } from '../access/sessions.ts';
import { type OperatorPage, openPage, type PasskeyDeps, sealPage, spend } from '../passkeys/ceremony.ts';
import { secretPurpose, targetRulesOf } from './configure-provider.ts';
import { type VouchedPerson, verifyIdToken } from './id-token.ts';
import { ProviderConnection, ProviderError } from './provider-connection.ts';
import {
  type GroupRoles,
  lockProvider,
  type ProviderRow,
  selectGroupRoles,
  selectProvider,
} from './provider-queries.ts';

/** A session lasts so long, and a sign-in at the provider may be as old: single sign-on. */
const usualMaxAgeSeconds = 12 * 60 * 60;
/** As decisions demand. */
const freshMaxAgeSeconds = 300;

export const callbackPath = '/operations/sign-in/callback';

export interface StartedSignIn {
  /** The provider's page. */
  readonly location: string;
  /** A cookie of this browser, which ties the response to it. */
  readonly flow: string;
}

/**
 * The request that a browser takes to the institution's provider: code with PKCE (RFC 7636), `state`, `nonce` and `max_age`. Undefined, alike
 * for an unknown institution, one without a provider, and a provider that does not respond, with the reason in the audit.
 */
export async function startProviderSignIn(
  deps: PasskeyDeps,
  {
    institution: code,
    next,
    isFresh,
  }: { readonly institution: string; readonly next: string; readonly isFresh: boolean },
  { origin }: SignInFrom,
): Promise<StartedSignIn | undefined> {
  const institution = await deps.database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined) return undefined;
  const { institutionId } = institution;
  const provider = await deps.database.read(institutionId, selectProvider);
  if (provider === undefined) return undefined;
  try {
    const { authorizationEndpoint } = await connected(deps, institutionId, provider, (connection) =>
      connection.discover(provider.issuer),
    );
    const [nonce, verifier] = [newSecret(), newSecret()];
    const maxAgeSeconds = isFresh ? freshMaxAgeSeconds : usualMaxAgeSeconds;
    const { issuer } = provider;
    const facts = { kind: 'provider', institutionId, issuer, nonce, verifier, next, maxAgeSeconds } as const;
    const { request: flow, challenge: state } = sealPage(deps, facts);
    const location = new URL(authorizationEndpoint);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: redirectUriOf(deps, code),
      scope: provider.scope,
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      max_age: String(maxAgeSeconds),
      ...(isFresh && { prompt: 'login' }),
    })) {
      location.searchParams.set(name, value);
    }
    return { location: location.href, flow };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    note(deps, institutionId, { reason: error.reason, origin });
    return undefined;
  }
}

/** A redirect URI of its own for each institution, so that no provider can pass for another (RFC 9700 section 4.4.2). */
export function redirectUriOf({ auth }: Pick<PasskeyDeps, 'auth'>, institutionCode: string): string {
  return `${relyingPartyOf(auth.issuer).origin}${callbackPath}/${institutionCode}`;
}

export interface ProviderResponse {
  readonly institution: string;
  readonly flow: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Ends a sign-in at the provider: its roles are those of the groups of this moment. Returns the secret of the session and the page to go on
 * with; undefined if refused, with the reason in the audit.
 */
export async function finishProviderSignIn(
  deps: PasskeyDeps,
  { institution: code, flow, parameters }: ProviderResponse,
  from: SignInFrom,
): Promise<{ readonly secret: string; readonly next: string } | undefined> {
  const { origin } = from;
  const institution = await deps.database.directory((db) => findInstitutionByCode(db, code));
  const page = openPage(deps, 'provider', flow);
  const { state } = parameters;
  if (
    page === undefined ||
    institution?.institutionId !== page.institutionId ||
    typeof state !== 'string' ||
    !isEqual(state, page.challenge)
  ) {
    note(deps, institution?.institutionId ?? wholeService, { reason: 'provider_state', origin });
    return undefined;
  }
  const { institutionId, next } = page;
  try {
    const provider = await deps.database.read(institutionId, selectProvider);
    if (provider?.issuer !== page.issuer) throw new ProviderError('provider_changed');
    const person = await askProvider(deps, provider, { page, code, parameters });
    const result = await signInPerson(deps, { page, provider, person, from });
    if ('secret' in result) return { secret: result.secret, next };
    note(deps, institutionId, { ...result, origin });
    return undefined;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    note(deps, institutionId, { reason: error.reason, origin });
    return undefined;
  }
}

type ProviderPage = Extract<OperatorPage, { kind: 'provider' }>;

async function askProvider(
  deps: PasskeyDeps,
  provider: ProviderRow,
  {
    page,
    code: institutionCode,
    parameters: { code, error, iss },
  }: {
    readonly page: ProviderPage;
    readonly code: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  },
): Promise<VouchedPerson> {
  const { issuer, clientId, groupClaim } = provider;
  return connected(deps, page.institutionId, provider, async (connection) => {
    const metadata = await connection.discover(issuer);
    // RFC 9207 section 2.4: before anything else of the response is used.
    if (iss === undefined ? metadata.isIssuerInResponse : iss !== issuer)
      throw new ProviderError('provider_iss');
    if (error !== undefined) throw new ProviderError('provider_error');
    if (typeof code !== 'string' || code === '') throw new ProviderError('provider_code');
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUriOf(deps, institutionCode),
      code_verifier: page.verifier,
    });
    const authorization = await authenticate(deps, provider, form);
    const idToken = await connection.redeem(metadata.tokenEndpoint, { form, authorization });
    const keys = await connection.keys(metadata.jwksUri);
    const { nonce, maxAgeSeconds } = page;
    const expected = { issuer, clientId, nonce, maxAgeSeconds, groupClaim, now: deps.clock() };
    return verifyIdToken(idToken, keys, expected);
  });
}

/** RFC 6749 section 2.3.1 for a secret; otherwise an assertion by the service's signing key (RFC 7523 section 2.2). */
async function authenticate(
  { auth, clock }: PasskeyDeps,
  { clientId, sealedSecret, issuer }: ProviderRow,
  form: URLSearchParams,
): Promise<string | undefined> {
  if (sealedSecret !== null) {
    const secret = openSecret(auth.vault, sealedSecret);
    const pair = [clientId, secret]
      .map((one) => new URLSearchParams({ v: one }).toString().slice(2))
      .join(':');
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const iat = Math.floor(clock().getTime() / 1000);
  const claims = { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat, exp: iat + 60 };
  form.set('client_id', clientId);
  form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  form.set('client_assertion', await signJwt(auth.keys, { typ: 'JWT', claims }));
  return undefined;
}

function openSecret(vault: PasskeyDeps['auth']['vault'], sealed: Buffer): string {
  try {
    return Buffer.from(vault.open(secretPurpose, sealed)).toString();
  } catch (error) {
    if (error instanceof DecryptionError) throw new ProviderError('provider_secret_lost', { cause: error });
    throw error;
  }
}

type Result = { readonly secret: string } | { readonly reason: string; readonly subject?: string };

function signInPerson(
  deps: PasskeyDeps,
  {
    page,
    provider: asked,
    person,
    from,
  }: {
    readonly page: ProviderPage;
    readonly provider: ProviderRow;
    readonly person: VouchedPerson;
    readonly from: SignInFrom;
  },
): Promise<Result> {
  const { institutionId, issuer } = page;
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx): Promise<Result> => {
    if (!(await spend(tx, page))) return { reason: 'replayed' };
    // The answer of the provider takes its time. A change of the provider meanwhile has ended the sessions that it vouched for.
    const current = await lockProvider(tx);
    if (current?.issuer !== issuer || current.clientId !== asked.clientId)
      return { reason: 'provider_changed' };
    const roles = rolesOf(person.groups, await selectGroupRoles(tx));
    const known = await lockOperatorBySubject(tx, { issuer, subject: person.subject });
    if (roles.length === 0) {
      // The person lost the groups, so the sessions of before end too.
      if (known !== undefined) await endSessionsOf(tx, known.operatorId, at);
      return { reason: 'no_group', ...(known && { subject: known.operatorId }) };
    }
    const operator = known ?? (await add(tx, { issuer, person, roles, at, from }));
    if (operator === undefined) return { reason: 'name_taken' };
    const { operatorId } = operator;
    if (operator.status !== 'ACTIVE') return { reason: 'not_active', subject: operatorId };
    if (operator.roles.toSorted().join() !== roles.toSorted().join()) {
      await updateOperator(tx, { ...operator, roles });
      const entry = {
        action: 'operator.changed',
        outcome: 'succeeded',
        reason: 'provider',
        subject: operatorId,
      } as const;
      const { origin } = from;
      await appendAudit(tx, { ...entry, origin, before: { roles: operator.roles }, after: { roles } }, at);
    }
    const { authenticatedAt } = person;
    const session = { operator, kind: 'BROWSER', method: 'provider', authenticatedAt, from } as const;
    return { secret: await beginSession(tx, deps, session) };
  });
}

function rolesOf(groups: readonly string[], groupRoles: GroupRoles): OperatorRole[] {
  const given = new Set(
    groups.flatMap((group) => (Object.hasOwn(groupRoles, group) ? (groupRoles[group] ?? []) : [])),
  );
  return operatorRoles.filter((role) => given.has(role));
}

/** At the first sign-in. Undefined if every name is taken, or looks like another operator's. */
async function add(
  tx: Transaction,
  {
    issuer,
    person: { subject, names },
    roles,
    at,
    from: { origin },
  }: {
    readonly issuer: string;
    readonly person: VouchedPerson;
    readonly roles: readonly OperatorRole[];
    readonly at: Date;
    readonly from: SignInFrom;
  },
): Promise<OperatorRow | undefined> {
  for (const name of names) {
    const operatorId = randomUUID();
    const operator: OperatorRow = {
      ...{ operatorId, name, email: null, roles, status: 'ACTIVE', source: 'PROVIDER', createdAt: at },
    };
    if (!(await insertOperator(tx, { ...operator, provider: { issuer, subject } }))) continue;
    const entry = {
      action: 'operator.added',
      outcome: 'succeeded',
      reason: 'provider',
      subject: operatorId,
    } as const;
    await appendAudit(tx, { ...entry, origin, after: { name, roles } }, at);
    return operator;
  }
  // Another browser of the same person may have been first.
  return lockOperatorBySubject(tx, { issuer, subject });
}

async function connected<T>(
  { database }: PasskeyDeps,
  institutionId: InstitutionId,
  { mayBeInside }: ProviderRow,
  work: (connection: ProviderConnection) => Promise<T>,
): Promise<T> {
  const connection = new ProviderConnection(await targetRulesOf(database, institutionId, mayBeInside));
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

function note(
  { auth }: PasskeyDeps,
  institutionId: InstitutionId,
  {
    reason,
    subject,
    origin,
  }: { readonly reason: string; readonly subject?: string; readonly origin: SignInFrom['origin'] },
): void {
  const entry = { action: 'operator.refused', outcome: 'refused', reason, subject, origin } as const;
  auth.audit.note(institutionId, entry);
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
