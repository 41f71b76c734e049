import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  ApiError,
  clientCredentials,
  password,
  Sharedraft,
  type SharedraftOptions,
} from '../../client/src/index.ts';
import { problemCodes } from '../../src/http/problems.ts';
import type { TransferStatus } from '../../src/transfers/index.ts';
import { Client, type Reply } from '../support/client.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * Follows docs/recipes.md like its reader, against the demo institutions. The shell of the page is interpreted, not
 * run: so time can pass at once, and an unexpected line is refused. The programs of the page are run.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Recipe {
  readonly name: string;
  readonly lines: readonly string[];
  /** With the client library; undefined where it cannot send such a request. */
  readonly program: string | undefined;
  readonly answers: Expected | undefined;
}

interface Expected {
  readonly status: number;
  readonly code: string | undefined;
  readonly contains: string | undefined;
}

const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const recipes = page.split(/^##+ /m).slice(1).map(readRecipe);
const preparation = recipes.find((recipe) => recipe.name === 'Before you start');
const walked = recipes.filter((recipe) => recipe.answers !== undefined);

function readRecipe(section: string): Recipe {
  const name = section.slice(0, section.indexOf('\n'));
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const program = /```ts\n([\s\S]*?)```/.exec(section)?.[1];
  const isImpossible = section.includes('\nThe client library cannot send such a request.\n');
  const answers = /^Response: `(\d{3})(?: (\w+))?`(?: with `([^`]+)`)?\.$/m.exec(section);
  return {
    name,
    program: isImpossible ? undefined : (program ?? ''),
    lines: block.split('\n').filter((line) => line !== ''),
    answers: answers ? { status: Number(answers[1]), code: answers[2], contains: answers[3] } : undefined,
  };
}

/** The states of transfers, accounts and users that the interface can show. Each has a recipe. */
const transferStates: Record<TransferStatus, true> = { PENDING: true, COMPLETED: true, FAILED: true };
const otherStates = ['account open', 'account closed', 'account delinquent', 'user active', 'user locked'];

test('every problem code and every state has a recipe, which names the outcome', () => {
  const names = new Set(walked.map((recipe) => recipe.name));
  assert.equal(names.size, walked.length, 'no name stands twice');
  const wanted = [
    ...problemCodes,
    ...Object.keys(transferStates).map((state) => `transfer ${state}`),
    ...otherStates,
  ];
  assert.deepEqual(
    wanted.filter((name) => !names.has(name)),
    [],
  );
  for (const { name, answers } of walked) {
    if ((problemCodes as string[]).includes(name)) {
      assert.ok(answers?.code === name || answers?.contains?.includes(name), name);
    }
  }
  assert.ok(preparation !== undefined);
});

const secrets = { SECRET_KEY: randomBytes(32).toString('hex') };
let now = Date.now();
let service: TestService;
let beside: TestService | undefined;
const variables = new Map<string, string>();
/** The clients of the page's preparation. */
let clients: Readonly<Record<string, unknown>>;

before(async () => {
  const environment = { ...secrets, PUBLIC_URL: 'http://127.0.0.1:8080' };
  service = await startTestService({ clock: () => new Date(now), environment });
  const names = ['baseUrl', 'app', 'harborApp', 'member', 'client', 'harbor'];
  const text = (preparation?.program ?? '').replaceAll(/^import .*$/gm, '');
  clients = (await execute(`${text}\nreturn { ${names.join(', ')} };`, {})) as typeof clients;
});
after(async () => {
  await beside?.close();
  await service.close();
});

for (const { name, lines, program, answers } of walked) {
  test(`returns the documented responses for the recipe "${name}"`, async () => {
    await run(preparation?.lines ?? [], undefined);
    let ran: Promise<void> | undefined;
    const runProgram = () => {
      ran ??= program === undefined ? Promise.resolve() : runAs(program, answers as Expected);
      return ran;
    };
    const replies = await run(lines, answers, runProgram);
    await runProgram();
    const reply = replies.find((one) => isAs(one, answers as Expected));
    assert.ok(
      reply !== undefined,
      `${JSON.stringify(answers)}: ${replies.map(({ status, text }) => `${status} ${text}`)}`,
    );
    if (answers?.code === name && name !== 'overloaded')
      assert.deepEqual(wordsOf(JSON.parse(reply.text)), wordsOf(exampleOf(name)));
  });
}

/** The parts of a problem that people read. The page of `overloaded` shows a surge, its recipe a locked record. */
const wordsOf = ({ detail, errors }: { detail: string; errors?: readonly object[] }) => ({ detail, errors });

/** The example on the problem's page. */
function exampleOf(code: string): Parameters<typeof wordsOf>[0] {
  const problemPage = readFileSync(new URL(`../../docs/problems/${code}.md`, import.meta.url), 'utf8');
  return JSON.parse(/^```json\n(.*?)^```/ms.exec(problemPage)?.[1] ?? '');
}

type Told = Pick<Reply, 'status' | 'text'>;

function isAs({ status, text }: Told, { status: expected, code, contains }: Expected): boolean {
  if (status !== expected || !text.includes(contains ?? '')) return false;
  return code === undefined || JSON.parse(text).code === code;
}

/** Runs a program of the page, whose last line returns or throws what is expected. */
async function runAs(program: string, expected: Expected): Promise<void> {
  assert.notEqual(program, '', 'a recipe has a program, or says that the client cannot send such a request');
  const lines = program.trimEnd().split('\n');
  const [, last = '', thrown] = /^await (.*); *(?:\/\/ (?:(\w+Error)|.*))?$/.exec(lines.pop() ?? '') ?? [];
  const given = { ...clients, process: { env: Object.fromEntries(variables) } };
  const text = `${lines.join('\n')}\nreturn await ${last};`;
  const result = await execute(text, given).then(
    (value) => ({ name: undefined, status: expected.status, body: value }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { name: error.name, status: error.status, body: error.problem };
    },
  );
  assert.equal(result.name, thrown, `${last}: ${JSON.stringify(result)}`);
  const told = { status: result.status, text: JSON.stringify(result.body) };
  assert.ok(isAs(told, expected), `${last}: ${told.status} ${told.text}`);
}

/** The client for the services of this test: the page has their usual addresses. */
class LocalSharedraft extends Sharedraft {
  constructor(options: SharedraftOptions) {
    super({ ...options, baseUrl: addressOf(options.baseUrl) });
  }
}

function execute(text: string, given: Readonly<Record<string, unknown>>): Promise<unknown> {
  const all = { Sharedraft: LocalSharedraft, clientCredentials, password, sleep: passTime, ...given };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  return new AsyncFunction(...Object.keys(all), text)(...Object.values(all)) as Promise<unknown>;
}

async function passTime(millis: number): Promise<void> {
  now += millis;
}

/**
 * Returns the replies of the last line that had any. It repeats requests whose result comes after a while. The program of the
 * recipe runs after the last request, and beside it while a statement is at work in the background.
 */
async function run(
  lines: readonly string[],
  expected: Expected | undefined,
  runProgram: () => Promise<void> = async () => {},
): Promise<Told[]> {
  let replies: Told[] = [];
  let slept = false;
  const background: Promise<unknown>[] = [];
  const lastRequest = lines.findLastIndex((line) => /\bcurl\b/.test(line));
  for (const [index, line] of lines.entries()) {
    const sleep = /^sleep (\d+)$/.exec(line);
    if (sleep !== null) {
      now += Number(sleep[1]) * 1_000;
      slept = true;
      // The service remembers settings for a second by a real clock.
      if (lines.some((one) => one.startsWith('sql ')))
        await new Promise((resolve) => setTimeout(resolve, 1_200));
      continue;
    }
    const isLast = index === lastRequest;
    if (isLast && background.length > 0) background.push(runProgram());
    const result = await runLine(line, background);
    if (result === undefined) continue;
    replies = result;
    if (!isLast || expected === undefined) continue;
    if (!slept) {
      await runProgram();
      continue;
    }
    // The sweep of due transfers uses a real timer.
    for (const deadline = Date.now() + 60_000; !replies.some((reply) => isAs(reply, expected)); ) {
      if (Date.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
      replies = (await runLine(line, background)) ?? [];
    }
    await runProgram();
  }
  await Promise.all(background);
  return replies;
}

async function runLine(line: string, background: Promise<unknown>[]): Promise<Told[] | undefined> {
  const [, name, before = '', command, asked] =
    /^([A-Z]+)="?([^$"]*)\$\((.*?) \| (field \w+|head -n 1)\)"?$/.exec(line) ?? [];
  if (name !== undefined && command !== undefined) {
    const [reply] = command.startsWith('curl')
      ? [await curl(command)]
      : [{ text: await sharedraft(command) }];
    const field = /^field (\w+)$/.exec(asked ?? '')?.[1];
    const value = field === undefined ? reply?.text.split('\n')[0] : JSON.parse(reply?.text ?? '')[field];
    assert.equal(typeof value, 'string', `${line}: ${reply?.text}`);
    variables.set(name, `${before}${value}`);
    return undefined;
  }
  const assignment = /^([A-Z]+)=(\S+)$/.exec(line);
  if (assignment !== null) {
    variables.set(assignment[1] as string, words(assignment[2] as string)[0] ?? '');
    return undefined;
  }
  const loop = /^for i in \$\(seq (\d+)\); do (curl .*); done$/.exec(line);
  if (loop !== null) {
    const replies: Told[] = [];
    for (let times = 0; times < Number(loop[1]); times++) replies.push(await curl(loop[2] as string));
    return replies;
  }
  const sql = /^sql (\w+) "([^"]*)"( &)?$/.exec(line);
  if (sql !== null) {
    const done = psql(sql[1] as string, sql[2] as string);
    if (sql[3] === undefined) await done;
    else {
      background.push(done);
      await isSleeping();
    }
    return undefined;
  }
  const second = /^PORT=8081 DATA_DIR=\S+ ([A-Z_]+)=(\S+) npm start &$/.exec(line);
  if (second !== null) {
    await beside?.close();
    const environment = {
      ...secrets,
      PUBLIC_URL: 'http://127.0.0.1:8080',
      [second[1] as string]: second[2] as string,
    };
    beside = await startTestService({ beside: service, clock: () => new Date(now), environment });
    return undefined;
  }
  if (line === 'kill $!') {
    void beside?.close();
    return undefined;
  }
  const cut = /^\(printf '([^']*)'; sleep \d+\) \| curl -s -T - -X POST -H '([^']*)' (\S+)$/.exec(line);
  if (cut !== null) return [await curlWithoutEnd(cut[3] as string, cut[2] as string, cut[1] as string)];
  if (line.startsWith('npx ')) await sharedraft(line);
  else if (line.startsWith('curl ')) return [await curl(line)];
  else assert.match(line, /^(field\(\)|sql\(\)|wait$)/, 'a line that this test understands');
  return undefined;
}

/** The options of curl that the page uses. */
async function curl(command: string): Promise<Told> {
  const rest = words(command).slice(1);
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let url: string | undefined;
  let method: string | undefined;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-s') continue;
    if (!word.startsWith('-')) {
      url = word;
      continue;
    }
    const value = rest.shift() ?? '';
    if (word === '-X') method = value;
    else if (word === '-u') headers.authorization = `Basic ${Buffer.from(value).toString('base64')}`;
    else if (word === '-H')
      headers[value.slice(0, value.indexOf(':')).toLowerCase()] = value.replace(/^[^:]*: /, '');
    else if (word === '-d' || word === '--json') {
      data.push(value);
      headers['content-type'] ??= word === '-d' ? 'application/x-www-form-urlencoded' : 'application/json';
    } else assert.fail(`an option of curl that this test does not know: ${word}`);
  }
  const { pathname, search } = new URL(url ?? '');
  const address = addressOf(url ?? '');
  const body = data.length > 0 ? { body: data.join('&') } : {};
  method ??= data.length > 0 ? 'POST' : 'GET';
  if ((headers['x-filler'] ?? '') !== '') return plainly(`${address}${pathname}`, headers);
  return new Client(address).request(method, `${pathname}${search}`, { headers, ...body });
}

/** An upload that never ends. */
async function curlWithoutEnd(url: string, header: string, start: string): Promise<Told> {
  const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\n${header}\r\nTransfer-Encoding: chunked`;
  const chunk = `${start.length.toString(16)}\r\n${start}\r\n`;
  const { text } = await sendRaw(Number(new URL(addressOf(url)).port), [`${head}\r\n\r\n${chunk}`], 60_000);
  return { status: Number(text.split(' ')[1]), text: text.split('\r\n\r\n')[1] ?? '' };
}

/** The page's two services by their ports. */
function addressOf(url: string): string {
  const { address } = new URL(url).port === '8081' ? (beside ?? assert.fail('no second service')) : service;
  return address;
}

/** Does not compare with the contract, which does not document unreadable requests at each operation. */
async function plainly(url: string, headers: Record<string, string>): Promise<Told> {
  const response = await fetch(url, { headers });
  return { status: response.status, text: await response.text() };
}

/** The words of a command, split like in a shell; variables and `$(printf '%0Nd' 0)` are expanded. */
function words(command: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  const piece = /'([^']*)'|"((?:\$\([^)]*\)|[^"])*)"|(\s+)|([^\s'"]+)/g;
  for (const [, single, double, space, bare] of command.matchAll(piece)) {
    if (space !== undefined) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else {
      word = `${word ?? ''}${single ?? expand(double ?? bare ?? '')}`;
    }
  }
  if (word !== undefined) found.push(word);
  return found;
}

function expand(text: string): string {
  return text
    .replace(/\$\(printf '%0(\d+)d' 0\)/g, (_, zeros) => '0'.repeat(Number(zeros)))
    .replace(/\$([A-Z]+)/g, (_, name) => variables.get(name) ?? assert.fail(`$${name} has no value`));
}

/** The operator's command line, as a process of its own. */
async function sharedraft(command: string): Promise<string> {
  const [, , ...parameters] = words(command);
  const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', ...parameters], {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: service.db.url,
      ...secrets,
      ALLOW_DEMO_ANYWHERE: 'true',
    },
  });
  return stdout;
}

async function psql(database: string, text: string): Promise<void> {
  const own = service.db.connection.database;
  const client = new pg.Client({
    ...service.db.owner,
    database: database === 'sharedraft' ? own : database,
  });
  await client.connect();
  try {
    await client.query(text.replace(/(database |')sharedraft\b/, `$1${own}`));
  } finally {
    await client.end();
  }
}

/** Waits until the background statement holds its locks. */
async function isSleeping(): Promise<void> {
  for (;;) {
    const rows = await service.db.superuser(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
