import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** A pooler between clients and PostgreSQL like PgBouncer; it drops the start-up options of clients. */
export interface Pooler extends AsyncDisposable {
  /** The folder to connect to instead of the server's. */
  readonly host: string;
}

export interface PoolerOptions {
  /** The point at which a client returns its server process. No session is reset for the next client. */
  readonly mode: 'transaction' | 'session';
  /** Number of server processes that all clients share. */
  readonly processes: number;
  /** Whether the server process returned last is taken first, as in PgBouncer by default. */
  readonly takes?: 'the last' | 'the first';
}

interface Backend {
  readonly socket: net.Socket;
  /** Receives each message; undefined while no client has the process. */
  onMessage?: ((message: Buffer) => void) | undefined;
}

const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startPooler(
  serverHost: string,
  { mode, processes, takes = 'the last' }: PoolerOptions,
): Promise<Pooler> {
  const host = await mkdtemp(path.join(os.tmpdir(), 'pool-'));
  const idle: Backend[] = [];
  const waiting: ((backend: Backend) => void)[] = [];
  const sockets = new Set<net.Socket>();
  let opened = 0;

  const open = async (startup: Buffer): Promise<Backend> => {
    const socket = net.connect(path.join(serverHost, '.s.PGSQL.5432'));
    sockets.add(socket.on('error', () => {}));
    const backend: Backend = { socket };
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    backend.onMessage = (message) => message[0] === 0x5a && resolve();
    socket.on(
      'data',
      intoMessages((message) => backend.onMessage?.(message)),
    );
    socket.write(startup);
    await ready;
    return backend;
  };
  const acquire = async (startup: Buffer): Promise<Backend> => {
    const backend = takes === 'the last' ? idle.pop() : idle.shift();
    if (backend !== undefined) return backend;
    if (opened < processes) {
      opened += 1;
      return open(startup);
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  const release = (backend: Backend) => {
    backend.onMessage = undefined;
    const next = waiting.shift();
    if (next === undefined) idle.push(backend);
    else next(backend);
  };

  const serve = async (client: net.Socket) => {
    let backend: Backend | undefined;
    let unanswered = 0;
    const queue: Buffer[] = [];
    let startup: Buffer | undefined;
    let draining: Promise<void> | undefined;
    const drain = async () => {
      for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
        // X: the client disconnects. Its server process stays.
        if (message[0] === 0x58) {
          client.end();
          return;
        }
        if (backend === undefined) {
          const acquired = await acquire(startup as Buffer);
          backend = acquired;
          backend.onMessage = (answer) => {
            client.write(answer);
            if (answer[0] !== 0x5a) return;
            unanswered -= 1;
            const isIdle = answer[5] === 0x49;
            if (mode === 'session' || unanswered > 0 || !isIdle) return;
            backend = undefined;
            release(acquired);
          };
        }
        // Q and S are each answered by a Z.
        if (message[0] === 0x51 || message[0] === 0x53) unanswered += 1;
        backend.socket.write(message);
      }
    };
    client.on('close', () => {
      if (backend !== undefined) release(backend);
      backend = undefined;
    });
    const onMessage = intoMessages((message) => {
      queue.push(message);
      draining = (draining ?? Promise.resolve()).then(drain);
    });
    const [first] = (await once(client, 'data')) as [Buffer];
    startup = withoutOptions(first);
    client.on('data', onMessage);
    client.write(Buffer.concat([authenticated, readyForQuery]));
  };

  const server = net.createServer((client) => {
    sockets.add(client.on('error', () => {}));
    serve(client).catch(() => client.destroy());
  });
  server.listen(path.join(host, '.s.PGSQL.5432'));
  await once(server, 'listening');
  return {
    host,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await rm(host, { recursive: true, force: true });
    },
  };
}

/** A message is a letter, a length that counts itself, and the rest. */
function intoMessages(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
      const length = 1 + rest.readUInt32BE(1);
      onMessage(Buffer.from(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
  };
}

/** The start-up message: a length, the protocol's version, then names and values, each ended by a zero. */
function withoutOptions(startup: Buffer): Buffer {
  const words = startup.subarray(8).toString('latin1').split('\0');
  const kept: string[] = [];
  for (let at = 0; at + 1 < words.length && words[at] !== ''; at += 2) {
    if (words[at] !== 'options') kept.push(words[at] as string, words[at + 1] as string);
  }
  const body = Buffer.from(`${kept.join('\0')}\0\0`, 'latin1');
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeUInt32BE(8 + body.length, 0);
  return Buffer.concat([head, body]);
}
