import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { CoreRecord, Instruction, Line, Outcome } from '../../dev/demo-core/books.ts';

/** The two doors of the service in memory, for tests of the demo core: what they got, and answers by the contract. */
export interface CoreDoors extends AsyncDisposable {
  readonly address: string;
  /** PEM of the client's key. */
  readonly key: string;
  readonly instructions: Instruction[];
  readonly outcomes: Map<string, Outcome>;
  /** Lines that count, by id and status; echoes by transfer and account. */
  readonly taken: Map<string, Line>;
  readonly records: readonly CoreRecord[];
  readonly requests: string[];
  /** The next requests to this path get this status. */
  fail(path: string, status: number, times: number): void;
}

export async function openCoreDoors(): Promise<CoreDoors> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const instructions: Instruction[] = [];
  const outcomes = new Map<string, Outcome>();
  const taken = new Map<string, Line>();
  const records: CoreRecord[] = [];
  const requests: string[] = [];
  const failures: { readonly path: string; readonly status: number; times: number }[] = [];
  let tokens = 0;

  const server = createServer(async (request, response) => {
    const { status, text } = await respond(request).catch((error) => ({ status: 400, text: String(error) }));
    response.writeHead(status).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function respond(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const body = await buffer(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    requests.push(`${request.method} ${path}`);
    const failure = failures.find((one) => path.endsWith(one.path) && one.times > 0);
    if (failure !== undefined) {
      failure.times -= 1;
      return { status: failure.status, text: '' };
    }
    if (path.startsWith('/.well-known/')) return ok({ issuer: 'https://bank.test' });
    if (path === '/auth/v2/token') {
      readAssertion(new URLSearchParams(body.toString()).get('client_assertion') ?? '');
      tokens += 1;
      return ok({ access_token: `t-${tokens}`, expires_in: 600 });
    }
    if (request.headers.authorization !== `Bearer t-${tokens}`) return { status: 401, text: '' };
    if (path.endsWith('/transactions')) return { status: 200, text: takeLines(gunzipSync(body).toString()) };
    if (path.endsWith('/records')) return { status: 200, text: takeRecords(gunzipSync(body).toString()) };
    if (path.endsWith('/instructions')) return ok(instructions.filter(({ id }) => !outcomes.has(id)));
    const [, id = ''] = /\/instructions\/([^/]+)\/outcome$/.exec(path) ?? [];
    const outcome = JSON.parse(body.toString()) as Outcome;
    const before = outcomes.get(id);
    if (before !== undefined && before.outcome !== outcome.outcome) return { status: 409, text: '' };
    outcomes.set(id, outcome);
    return ok({ id });
  }

  function readAssertion(assertion: string): void {
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    const { aud, exp, jti, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const isSigned = verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      { key: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    const isFresh = exp > Date.now() / 1_000 && exp < Date.now() / 1_000 + 300;
    if (!isSigned || !isFresh || aud !== 'https://bank.test' || !jti || sub !== 'a-core') {
      throw new Error('the assertion is wrong');
    }
  }

  function takeLines(text: string): string {
    const answers = text
      .trimEnd()
      .split('\n')
      .map((json, index) => ({ line: index + 1, ...answerTo(JSON.parse(json) as Line) }));
    return [...answers, { summary: {} }].map((answer) => `${JSON.stringify(answer)}\n`).join('');
  }

  function takeRecords(text: string): string {
    const given = text
      .trimEnd()
      .split('\n')
      .map((json) => JSON.parse(json) as CoreRecord);
    records.push(...given);
    const answers = given.map((_, index) => ({ line: index + 1, result: 'changed' }));
    return [...answers, { summary: {} }].map((answer) => `${JSON.stringify(answer)}\n`).join('');
  }

  function answerTo(line: Line): object {
    const { id, status = 'POSTED', transferId } = line;
    if (transferId !== undefined && outcomes.get(transferId)?.outcome !== 'ACCEPTED') {
      return { id, result: 'refused', code: 'transfer_not_completed' };
    }
    const key = `${id} ${status}`;
    const before = taken.get(key);
    if (before !== undefined) {
      return JSON.stringify(before) === JSON.stringify(line)
        ? { id, result: 'already' }
        : { id, result: 'conflict', code: 'id_reused' };
    }
    taken.set(key, line);
    return { id, result: transferId === undefined ? 'posted' : 'echo' };
  }

  return {
    address,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    instructions,
    outcomes,
    taken,
    records,
    requests,
    fail: (path, status, times) => failures.push({ path, status, times }),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function ok(body: object): { status: number; text: string } {
  return { status: 200, text: JSON.stringify(body) };
}
