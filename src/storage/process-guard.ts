import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while no other process on this machine runs work under the same name. The guard is a listening
 * socket in Linux's abstract namespace (elsewhere a port derived from the name, on loopback): the kernel gives it to one
 * process only and takes it back when that process ends, however it ends, so that there is nothing stale to clean up.
 */
export async function alone<T>(name: string, patienceMillis: number, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + patienceMillis;
  for (;;) {
    const guard = await listen(name);
    if (guard !== undefined) {
      try {
        return await work();
      } finally {
        await new Promise((resolve) => guard.close(resolve));
      }
    }
    if (Date.now() > deadline) throw new Error('another process is still at it');
    await sleep(25);
  }
}

function listen(name: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  const address =
    process.platform === 'linux'
      ? { path: `\0${name}` }
      : { host: '127.0.0.1', port: 49_152 + (Number.parseInt(name.slice(-6), 16) % 16_000) };
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    // Exclusive: processes of one cluster would otherwise be given the same socket.
    server.listen({ ...address, exclusive: true }, () => resolve(server));
  });
}
