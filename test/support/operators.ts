import assert from 'node:assert/strict';
import type { TestService } from './service.ts';

/** The address of a service whose demo has buttons. */
export const demoAddress = { PUBLIC_URL: 'http://127.0.0.1:8080' };

export interface OperatorAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a document of any operation
  readonly body: any;
}

/** An operator of a demo institution with the token of a session. */
export class TestOperator {
  readonly #address: string;
  readonly token: string;

  constructor(address: string, token: string) {
    this.#address = address;
    this.token = token;
  }

  get(path: string): Promise<OperatorAnswer> {
    return this.send('GET', path);
  }

  post(path: string, body?: object): Promise<OperatorAnswer> {
    return this.send('POST', path, body);
  }

  async send(method: string, path: string, body?: object): Promise<OperatorAnswer> {
    return sendTo(this.#address, method, path, { authorization: `Bearer ${this.token}` }, body);
  }
}

export async function sendTo(
  address: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<OperatorAnswer> {
  const response = await fetch(`${address}/operations/v1${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

export async function operatorOf(
  { address }: Pick<TestService, 'address'>,
  name: string,
  institution = 'lakeside',
): Promise<TestOperator> {
  const answer = await sendTo(address, 'POST', '/demo-session', {}, { institution, name });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return new TestOperator(address, answer.body.token);
}
