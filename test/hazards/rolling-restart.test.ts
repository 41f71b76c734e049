import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { send } from '../support/demo.ts';
import { startTestService } from '../support/service.ts';

/** Forwards to upstreams in turn, except those whose last `/readyz` was not 200. */
async function healthCheckingProxy(upstreams: readonly string[], lookMillis: number) {
  const agent = new http.Agent({ keepAlive: true });
  let ready = [...upstreams];
  let turn = 0;
  const look = async () => {
    const statuses = await Promise.all(
      upstreams.map((one) =>
        send(one, 'GET', '/readyz').then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
    ready = upstreams.filter((_, index) => statuses[index] === 200);
  };
  const looking = setInterval(look, lookMillis);
  const server = http.createServer((request, response) => {
    turn += 1;
    const upstream = ready[turn % ready.length] as string;
    const onward = http.request(`${upstream}${request.url}`, { agent }, (answer) => {
      response.writeHead(answer.statusCode as number);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end()).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    address: `http://127.0.0.1:${port}`,
    ready: () => ready.length,
    [Symbol.asyncDispose]: async () => {
      clearInterval(looking);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('fails no request behind a proxy that polls /readyz when a process stops after its delay', async () => {
  const environment = { SHUTDOWN_DELAY_SECONDS: '1' };
  await using stays = await startTestService({ environment });
  const logged: string[] = [];
  const logStream = { write: (line: string) => void logged.push(line) };
  await using stops = await startTestService({
    environment: { ...environment, LOG_LEVEL: 'info' },
    beside: stays,
    logStream,
  });
  await using proxy = await healthCheckingProxy([stays.address, stops.address], 100);
  let isOver = false;
  const statuses = new Map<number, number>();
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const { status } = await fetch(`${proxy.address}/livez`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const closing = stops.service.close();
  const { status, body } = await send(stops.address, 'GET', '/readyz');
  assert.deepEqual([status, body.code], [503, 'shutting_down']);
  assert.equal((await send(stops.address, 'GET', '/version')).status, 200, 'it serves on');
  await closing;
  isOver = true;
  await Promise.all(load);
  assert.deepEqual([...statuses.keys()], [200]);
  assert.equal(proxy.ready(), 1);
  assert.ok(logged.some((line) => line.includes('"code":"shutting_down"')));
  assert.deepEqual(
    logged.filter((line) => line.includes('"level":50')),
    [],
    'a stop that was asked for is no error',
  );
});
