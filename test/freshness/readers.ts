import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Reply } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { pick, type Random } from '../support/random.ts';
import type { Bank } from './bank.ts';
import { balanceOf, type Recorder } from './recorder.ts';

/** Subject to value, as a response shows them. */
type Shown = Readonly<Record<string, string>>;

/** One request that reads, and the subjects that it may show. */
export interface View {
  readonly path: string;
  /** A dry run is a POST. */
  readonly body?: () => object;
  readonly subjects: readonly string[];
  show(reply: Pick<Reply, 'status' | 'body'>): Shown;
}

/** An access token: a subject of its own, `active` until a revocation, a lock or a deactivated client ends it. */
export interface Token {
  readonly subject: string;
  readonly text: string;
  readonly refreshToken: string | undefined;
}

/** A client, or a member with a client, and the views that it reads. */
export interface Persona {
  readonly credentials: Readonly<Record<string, string>>;
  readonly views: readonly View[];
  readonly tokens: Token[];
}

export const descriptionOf = (accountId: string): string => `description of ${accountId}`;
export const transferOf = (id: string): string => `transfer ${id}`;
export const subjects = {
  phone: 'phone of c-1003',
  name: 'first name of p-1001',
  locked: 'lock of u-rowan-owner',
  held: 'holder p-1003 of a-1002-checking',
  restricted: 'restriction of a-1003-checking',
  available: 'available balance of a-1006-checking',
} as const;

const cents = ({ amount }: { readonly amount: number }): string => String(Math.round(amount * 100));

// biome-ignore lint/suspicious/noExplicitAny: the contract has just checked the document
type Document = any;

/** The subjects of an account that are written during a run. */
function shownAccount(account: Document): Record<string, string> {
  const { accountId, balance, accountType } = account;
  const shown: Record<string, string> = {};
  if (moving.includes(accountId)) shown[balanceOf(accountId)] = cents(balance.currentBalance);
  if (described.includes(accountId)) shown[descriptionOf(accountId)] = accountType.description;
  if (accountId === 'a-1006-checking') shown[subjects.available] = cents(balance.availableBalance);
  return shown;
}

/** Sources and destinations of the transfers; one cent moves each time, so no balance comes back. */
export const moving: readonly string[] = [
  'a-1001-checking',
  'a-1001-savings',
  'a-1019-checking',
  'a-1019-savings',
];
export const described: readonly string[] = ['a-1001-savings', 'a-1019-savings'];

function ofAccount(accountId: string): readonly string[] {
  return [
    ...(moving.includes(accountId) ? [balanceOf(accountId)] : []),
    ...(described.includes(accountId) ? [descriptionOf(accountId)] : []),
    ...(accountId === 'a-1006-checking' ? [subjects.available] : []),
    ...(accountId === 'a-1002-checking' ? [subjects.held] : []),
  ];
}

function accountView(accountId: string): View {
  return {
    path: `${paths.accounts}/${accountId}`,
    subjects: ofAccount(accountId),
    show: ({ status, body }) => {
      assert.ok(status === 200 || (status === 404 && accountId === 'a-1002-checking'), `${status}`);
      const held = accountId === 'a-1002-checking' ? { [subjects.held]: status === 200 ? 'yes' : 'no' } : {};
      return status === 200 ? { ...shownAccount(body), ...held } : held;
    },
  };
}

/** `mayHold`: the list shows by its length whether the person holds the shared account. */
function listView(path: string, accountIds: readonly string[], mayHold = false): View {
  return {
    path,
    subjects: [...accountIds.flatMap(ofAccount), ...(mayHold ? [subjects.held] : [])],
    show: ({ status, body }) => {
      assert.equal(status, 200);
      const shown = Object.assign({}, ...body.map(shownAccount));
      const holds = body.some((account: Document) => account.accountId === 'a-1002-checking');
      return mayHold ? { ...shown, [subjects.held]: holds ? 'yes' : 'no' } : shown;
    },
  };
}

/** The newest entry's balance is the account's. */
function historyView(accountId: string, limit: number): View {
  return {
    path: `${paths.accounts}/${accountId}/transactions?limit=${limit}`,
    subjects: [balanceOf(accountId)],
    show: ({ status, body }) => {
      assert.equal(status, 200);
      return { [balanceOf(accountId)]: cents(body[0].ledgerBalance) };
    },
  };
}

function profileView(query: string, shows: readonly string[]): View {
  return {
    path: `${paths.customer(query.split('?')[0] as string)}/contact-methods${query.includes('?') ? `?${query.split('?')[1]}` : ''}`,
    subjects: shows,
    show: ({ status, body }) => {
      assert.equal(status, 200);
      const all: Shown = {
        [subjects.phone]: body.phoneNumbers[0]?.phoneNumber ?? 'none',
        [subjects.name]: body.firstName,
        [subjects.locked]: body.userStatus.locked ? 'locked' : 'open',
      };
      return Object.fromEntries(shows.map((subject) => [subject, all[subject] as string]));
    },
  };
}

export function transferView(id: string): View {
  return {
    path: `${paths.transfers}/${id}`,
    subjects: [transferOf(id)],
    show: ({ status, body }) => ({ [transferOf(id)]: status === 404 ? 'absent' : body.status }),
  };
}

let dryRuns = 0;
const dryRunView: View = {
  path: `${paths.transfers}/dry-run`,
  body: () => {
    dryRuns += 1;
    return {
      id: `dry-${dryRuns}`,
      fromAccountId: 'a-1003-checking',
      toAccountId: 'a-1003-savings',
      amount: 0.01,
    };
  },
  subjects: [subjects.restricted],
  show: ({ status, body }) => {
    assert.equal(status, 200);
    const codes: string[] = body.reasons.map(({ code }: { readonly code: string }) => code);
    return { [subjects.restricted]: codes.includes('account_restricted') ? 'EXCLUDE_ALL' : '' };
  },
};

const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const member = (username: string, password: string) => ({
  ...app,
  grant_type: 'password',
  username,
  password,
  scope: 'account:read institution-users:read transfer:read offline_access',
});

const everywhere = [
  ...moving.map(accountView),
  ...moving.map((accountId) => historyView(accountId, 5)),
  listView('/digitalbanking/ux-users/v1/customers/c-1001/accounts', ['a-1001-checking', 'a-1001-savings']),
  profileView('c-1003', [subjects.phone]),
  profileView('u-demo-member?userIdType=USER_ID', [subjects.name]),
  profileView('100006?userIdType=MEMBER_NUMBER', [subjects.locked]),
  accountView('a-1006-checking'),
];

export function personas() {
  const of = (credentials: Persona['credentials'], views: readonly View[]): Persona => ({
    credentials,
    views,
    tokens: [],
  });
  const client = { grant_type: 'client_credentials' };
  return {
    app: of({ ...app, ...client }, [...everywhere, dryRunView]),
    /** Its client is switched off and on. */
    reader: of({ client_id: 'demo-reader', client_secret: 'demo-reader-secret', ...client }, everywhere),
    willow: of(member('demo.member', 'demo-member-password'), [
      accountView('a-1001-checking'),
      accountView('a-1001-savings'),
      historyView('a-1001-checking', 50),
      listView(paths.accounts, ['a-1001-checking', 'a-1001-savings']),
      listView('/digitalbanking/ux-users/v1/customers/c-1001/accounts', [
        'a-1001-checking',
        'a-1001-savings',
      ]),
      profileView('c-1001', [subjects.name]),
    ]),
    wren: of(member('wren.many', 'wren-many-lantern-18'), [
      listView(paths.accounts, ['a-1019-checking', 'a-1019-savings']),
      historyView('a-1019-savings', 20),
    ]),
    cedar: of(member('cedar.owner', 'cedar-red-lantern-3'), [profileView('c-1003', [subjects.phone])]),
    /** Her holder record of the shared account comes and goes. */
    fern: of(member('fern.joint', 'fern-green-lantern-2'), [
      accountView('a-1002-checking'),
      listView(paths.accounts, [], true),
    ]),
    /** He is locked out and let in. */
    rowan: of(member('rowan.owner', 'rowan-bread-lantern-6'), [
      accountView('a-1006-checking'),
      listView(paths.accounts, ['a-1006-checking']),
    ]),
  };
}

export type Personas = ReturnType<typeof personas>;

/** Sends the views of personas to both processes and records the shown values. */
export class Readers {
  readonly #bank: Bank;
  readonly #recorder: Recorder;
  readonly #random: Random;
  readonly #tagged = new Map<string, { readonly etag: string; readonly body: unknown }>();
  readonly counts = { reads: 0, notModified: 0, refused: 0, failed: 0 };

  constructor(bank: Bank, recorder: Recorder, random: Random) {
    this.#bank = bank;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** Reads through both processes at once. */
  async readBoth(token: Token, view: View): Promise<void> {
    await Promise.all([this.read(0, token, view), this.read(1, token, view)]);
  }

  /** A request without a response, or with 503, shows nothing. */
  async read(process: number, token: Token, view: View): Promise<void> {
    const address = this.#bank.addresses[process] as string;
    const key = `${token.subject} ${view.path}`;
    const tagged = this.#random(2) === 0 ? this.#tagged.get(key) : undefined;
    const start = performance.now();
    const reply = await new Client(address)
      .request(view.body === undefined ? 'GET' : 'POST', view.path, {
        token: token.text,
        ...(view.body !== undefined && { json: view.body() }),
        ...(tagged !== undefined && { headers: { 'if-none-match': tagged.etag } }),
      })
      .catch((error: unknown) => {
        if (error instanceof TypeError) return undefined;
        throw error;
      });
    const end = performance.now();
    if (reply === undefined || reply.status === 503 || reply.status === 504) {
      this.counts.failed += 1;
      await sleep(20);
      return;
    }
    this.counts.reads += 1;
    const by = `process ${process}, ${token.subject}, ${view.path}, ${reply.status}`;
    const seen = (subject: string, value: string) =>
      this.#recorder.observe(subject, { value, start, end, by });
    if (reply.status === 401) {
      this.counts.refused += 1;
      seen(token.subject, 'ended');
      return;
    }
    seen(token.subject, 'active');
    if (reply.status === 304) this.counts.notModified += 1;
    const etag = reply.headers.get('etag');
    if (etag !== null && reply.status === 200) this.#tagged.set(key, { etag, body: reply.body });
    const shown = reply.status === 304 ? { status: 200, body: tagged?.body } : reply;
    for (const [subject, value] of Object.entries(view.show(shown))) seen(subject, value);
  }

  /** A new token of the persona, through any process; undefined if it gets none now. */
  async signIn(persona: Persona, number: () => number): Promise<Token | undefined> {
    const address = pick(this.#random, this.#bank.addresses);
    const reply = await new Client(address)
      .post(paths.token, { json: persona.credentials })
      .catch((error: unknown) => {
        if (error instanceof TypeError) return undefined;
        throw error;
      });
    if (reply?.status !== 200) return undefined;
    const subject = `token ${number()} of ${persona.credentials.username ?? persona.credentials.client_id}`;
    const token = { subject, text: reply.body.access_token, refreshToken: reply.body.refresh_token };
    persona.tokens.push(token);
    this.#recorder.begin(subject, 'active');
    return token;
  }
}
