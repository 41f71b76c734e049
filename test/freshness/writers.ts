import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { changeClient, setStanding } from '../../src/auth/index.ts';
import { importExtract } from '../../src/core-system/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { type ExtractFiles, extractFolder } from '../support/extract.ts';
import { commandOf } from '../support/operator.ts';
import { pick, type Random } from '../support/random.ts';
import type { Bank } from './bank.ts';
import {
  descriptionOf,
  type Persona,
  type Personas,
  type Readers,
  subjects,
  type Token,
  transferOf,
  transferView,
  type View,
} from './readers.ts';
import type { Recorder } from './recorder.ts';

export interface World {
  readonly bank: Bank;
  readonly recorder: Recorder;
  readonly readers: Readers;
  readonly personas: Personas;
  readonly random: Random;
  /** The token of the client demo-app, which no act ends. */
  readonly writer: string;
  /** Ids of the newest transfers. */
  readonly transfers: string[];
}

/** One act after the other; each ends with reads by both processes of the things that it changed. */
export type Writer = () => Promise<void>;

const examples = fileURLToPath(new URL('../../examples/lakeside', import.meta.url));
const endedKept = 3;
const transfersKept = 20;

/** Each writer has subjects of its own. An act that fails is repeated, so each can be repeated. */
export async function writersOf(world: World): Promise<Writer[]> {
  const { bank, recorder, readers, personas, random, writer, transfers } = world;
  const institution = await bank.operator.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  const institutionId = institution?.institutionId as InstitutionId;
  const origin = commandOf('ann');
  let numbers = 0;
  const number = () => {
    numbers += 1;
    return numbers;
  };
  const client = () => new Client(pick(random, bank.addresses));

  /** Other statuses are repeated: the outcome of the request is unknown, or it had none. */
  const send = async (method: 'POST' | 'PATCH', path: string, json: object, ...good: number[]) => {
    // A revocation has its client's secret.
    const reply = await client().request(method, path, {
      json,
      ...(!('client_secret' in json) && { token: writer }),
    });
    if (!good.includes(reply.status)) {
      assert.ok([503, 504].includes(reply.status), `${method} ${path}: ${reply.status} ${reply.text}`);
      throw new Error(`${reply.status}`);
    }
    return reply;
  };

  /** Reads through both processes, by every persona that may see one of the subjects. */
  const probe = async (changed: readonly string[]) => {
    const all = Object.values(personas).flatMap((persona) => {
      const token = persona.tokens.at(-1);
      const views = persona.views.filter((view) => view.subjects.some((one) => changed.includes(one)));
      return token === undefined ? [] : views.map((view) => [token, view] as const);
    });
    const some = all.length <= 4 ? all : Array.from({ length: 4 }, () => pick(random, all));
    await Promise.all(some.map(([token, view]) => readers.readBoth(token, view)));
  };
  const probeToken = async (token: Token, { views }: Persona) => {
    await readers.readBoth(token, pick<View>(random, views));
  };

  const noteTransfer = (id: string) => {
    transfers.push(id);
    if (transfers.length > transfersKept) transfers.shift();
  };
  const probeTransfer = async (id: string) => {
    const token = personas.app.tokens.at(-1);
    if (token !== undefined) await readers.readBoth(token, transferView(id));
  };

  const mover = (from: string, to: string): Writer => {
    return async () => {
      const id = `move-${number()}`;
      const order = { id, fromAccountId: from, toAccountId: to, amount: 0.01 };
      recorder.begin(transferOf(id), 'absent');
      noteTransfer(id);
      await recorder.write({ [transferOf(id)]: 'COMPLETED' }, () =>
        recorder.move(id, () => send('POST', paths.transfers, order, 201, 200)),
      );
      await Promise.all([probe([`balance of ${from}`, `balance of ${to}`]), probeTransfer(id)]);
    };
  };

  const holdAndCancel: Writer = async () => {
    const id = `hold-${number()}`;
    const order = { id, fromAccountId: 'a-1006-checking', toAccountId: 'a-1005-checking', amount: 1000.01 };
    const transfer = transferOf(id);
    recorder.begin(transfer, 'absent');
    noteTransfer(id);
    const free = recorder.valueOf(subjects.available) as string;
    await recorder.write({ [transfer]: 'PENDING', [subjects.available]: `${Number(free) - 100_001}` }, () =>
      send('POST', paths.transfers, order, 201, 200),
    );
    await Promise.all([probe([subjects.available]), probeTransfer(id)]);
    await recorder.write({ [transfer]: 'FAILED', [subjects.available]: free }, () =>
      send('POST', `${paths.transfers}/${id}/cancel`, {}, 200),
    );
    await Promise.all([probe([subjects.available]), probeTransfer(id)]);
  };

  const contact: Writer = async () => {
    const phoneNumber = `+1202555${String(1_000 + (number() % 9_000))}`;
    await recorder.write({ [subjects.phone]: phoneNumber }, () =>
      send('PATCH', `${paths.customer('c-1003')}/contact-info`, { phoneNumber, phoneType: 'MOBILE' }, 200),
    );
    await probe([subjects.phone]);
  };

  const lines = (name: string) => readFileSync(`${examples}/${name}.csv`, 'utf8').trimEnd().split('\n');
  const names = ['institution', 'persons', 'members', 'member-persons', 'accounts', 'holders'];
  const base: ExtractFiles = Object.fromEntries(names.map((name) => [`${name}.csv`, lines(name)]));

  const imports: Writer = async () => {
    const change: Record<string, string> = {};
    const chance = () => random(3) > 0;
    const other = (subject: string, one: string, another: string) => {
      if (chance()) change[subject] = recorder.valueOf(subject) === one ? another : one;
    };
    if (chance()) change[subjects.name] = `Willow${number()}`;
    for (const account of ['a-1001-savings', 'a-1019-savings']) {
      if (chance()) change[descriptionOf(account)] = `Savings ${number()}`;
    }
    other(subjects.held, 'yes', 'no');
    other(subjects.restricted, '', 'EXCLUDE_ALL');
    const state = (subject: string) => change[subject] ?? (recorder.valueOf(subject) as string);
    await using folder = await extractFolder(extractWith(base, state));
    await recorder.write(change, () => importExtract(bank.operator, folder.folder, { origin }));
    await probe(Object.keys(change));
  };

  const endTokens = (tokens: readonly Token[]) =>
    Object.fromEntries(tokens.map(({ subject }) => [subject, 'ended']));
  /** Ends all tokens of the persona, and later lets it in again. */
  const shutOut = async (
    persona: Persona,
    subject: string | undefined,
    act: (isOut: boolean) => Promise<unknown>,
  ) => {
    const changes = (value: string) => (subject === undefined ? {} : { [subject]: value });
    const ended = persona.tokens.slice(-endedKept);
    await recorder.write({ ...endTokens(persona.tokens), ...changes('locked') }, () => act(true));
    await Promise.all([...ended.map((token) => probeToken(token, persona)), probe(Object.keys(changes('')))]);
    await sleep(random(100));
    await recorder.write(changes('open'), () => act(false));
    await Promise.all([...ended.map((token) => probeToken(token, persona)), probe(Object.keys(changes('')))]);
    await signIn(persona);
    await sleep(random(800));
  };
  const signIn = async (persona: Persona) => {
    const token = await readers.signIn(persona, number);
    persona.tokens.splice(0, Math.max(0, persona.tokens.length - 1 - endedKept));
    if (token !== undefined) await probeToken(token, persona);
  };

  const lock = (isOut: boolean) =>
    setStanding(bank.operator.auth, institutionId, { name: 'rowan.owner', lockedByOperator: isOut, origin });
  const deactivate = (isOut: boolean) =>
    setStanding(bank.operator.auth, institutionId, { name: 'rowan.owner', active: !isOut, origin });
  const lockOuts: Writer = () =>
    random(2) === 0
      ? shutOut(personas.rowan, subjects.locked, lock)
      : shutOut(personas.rowan, undefined, deactivate);

  /** Five wrong passwords lock the login, and end no token. */
  const wrongPasswords: Writer = async () => {
    const json = { ...personas.rowan.credentials, password: 'not-this-one-at-all' };
    const isLocked = async () =>
      (
        await bank.sql<{ locked: boolean }>(
          `select coalesce(locked_until > now(), false) as locked from users where user_id = 'u-rowan-owner'`,
        )
      )[0]?.locked === true;
    await recorder.write({ [subjects.locked]: 'locked' }, async () => {
      while (!(await isLocked())) await client().post(paths.token, { json });
    });
    await probe([subjects.locked]);
    await recorder.write({ [subjects.locked]: 'open' }, () => lock(false));
    await probe([subjects.locked]);
  };

  const switched = (isOut: boolean) =>
    changeClient(bank.operator.auth, institutionId, {
      clientId: 'demo-reader',
      change: { active: !isOut },
      origin,
    });

  /** RFC 7009: one access token, or by the refresh token the whole login. */
  const revocations: Writer = async () => {
    const persona = pick(random, [
      personas.app,
      personas.willow,
      personas.wren,
      personas.cedar,
      personas.fern,
    ]);
    const token = persona.tokens.at(-1);
    if (token !== undefined) {
      const { client_id, client_secret } = persona.credentials;
      const text = token.refreshToken !== undefined && random(2) === 0 ? token.refreshToken : token.text;
      await recorder.write(endTokens([token]), () =>
        send('POST', paths.revoke, { client_id, client_secret, token: text }, 200),
      );
      await Promise.all(persona.views.map((view) => readers.readBoth(token, view)));
    }
    await signIn(persona);
  };

  for (const persona of Object.values(personas)) {
    await signIn(persona);
    assert.equal(persona.tokens.length, 1, JSON.stringify(persona.credentials));
  }
  return [
    mover('a-1001-checking', 'a-1001-savings'),
    mover('a-1019-checking', 'a-1019-savings'),
    mover('a-1019-checking', 'a-1001-savings'),
    holdAndCancel,
    contact,
    imports,
    async () => (random(4) === 0 ? wrongPasswords() : lockOuts()),
    () => shutOut(personas.reader, undefined, switched),
    revocations,
  ];
}

/** The demo's extract with the subjects in this state. */
function extractWith(base: ExtractFiles, state: (subject: string) => string): ExtractFiles {
  const map = (name: string, change: (fields: string[]) => string[] | undefined) =>
    (base[name] ?? []).flatMap((line) => {
      const changed = change(line.split(','));
      return changed === undefined ? [] : [changed.join(',')];
    });
  return {
    ...base,
    'persons.csv': map('persons.csv', ([id = '', first = '', ...more]) =>
      id === 'p-1001' ? [id, state(subjects.name), ...more] : [id, first, ...more],
    ),
    'holders.csv': map('holders.csv', (fields) =>
      fields[0] === 'a-1002-checking' && fields[1] === 'p-1003' && state(subjects.held) === 'no'
        ? undefined
        : fields,
    ),
    'accounts.csv': map('accounts.csv', (fields) => {
      const [id = ''] = fields;
      if (id === 'account_id') return [...fields, 'transfer_restriction'];
      const isDescribed = id === 'a-1001-savings' || id === 'a-1019-savings';
      const named = isDescribed ? fields.with(4, state(descriptionOf(id))) : fields;
      return [...named, id === 'a-1003-checking' ? state(subjects.restricted) : ''];
    }),
  };
}
