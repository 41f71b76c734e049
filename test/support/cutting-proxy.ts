import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** A proxy between a client and PostgreSQL that cuts the connection on request. */
export interface CuttingProxy extends AsyncDisposable {
  /** The folder to connect to instead of the server's. */
  readonly host: string;
  /** Bytes in each direction since `cutAfter` was last set. */
  readonly seen: { toServer: number; toClient: number };
  /** Cuts once after so many bytes in the direction: those before the cut arrive, later ones do not. Null: never. */
  cutAfter(cut: { readonly direction: 'toServer' | 'toClient'; readonly bytes: number } | null): void;
  /** From now on existing connections forward nothing in either direction, and stay open. */
  freeze(): void;
  /** The same, and for new connections too. */
  freezeForGood(): void;
}

export async function cuttingProxy(serverHost: string): Promise<CuttingProxy> {
  const host = await mkdtemp(path.join(os.tmpdir(), 'cut-'));
  const seen = { toServer: 0, toClient: 0 };
  let cut: { direction: 'toServer' | 'toClient'; bytes: number } | null = null;
  const sockets = new Set<net.Socket>();
  const frozen = new WeakSet<net.Socket>();
  let frozenForGood = false;

  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(serverHost, '.s.PGSQL.5432'));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const relay = (from: net.Socket, to: net.Socket, direction: 'toServer' | 'toClient') =>
      from.on('data', (chunk: Buffer) => {
        if (frozenForGood || frozen.has(from)) return;
        const room = cut?.direction === direction ? cut.bytes - seen[direction] : Number.POSITIVE_INFINITY;
        seen[direction] += chunk.length;
        if (chunk.length < room) {
          to.write(chunk);
          return;
        }
        cut = null;
        const last = chunk.subarray(0, Math.max(room, 0));
        to.write(last, () => {
          client.destroy();
          upstream.destroy();
        });
      });
    relay(client, upstream, 'toServer');
    relay(upstream, client, 'toClient');
  });
  await new Promise<void>((resolve) => server.listen(path.join(host, '.s.PGSQL.5432'), resolve));
  return {
    host,
    seen,
    cutAfter: (next) => {
      seen.toServer = 0;
      seen.toClient = 0;
      cut = next;
    },
    freeze: () => {
      for (const socket of sockets) frozen.add(socket);
    },
    freezeForGood: () => {
      frozenForGood = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(host, { recursive: true, force: true });
    },
  };
}
