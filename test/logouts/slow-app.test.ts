import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

test('an app that keeps silent lets others hear of the end of sessions before its first request times out', async () => {
  let silent = 0;
  let heard = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    if (request.url === '/prompt') {
      heard += 1;
      response.end();
      return;
    }
    silent += 1;
    // The sender gives up after 15 seconds.
    response.once('close', () => {
      silent -= 1;
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const service = await startTestService();
  try {
    const [lakeside] = await service.db.superuser<{ id: InstitutionId }>(
      `select institution_id as id from institutions where code = 'lakeside'`,
    );
    for (const app of ['silent', 'prompt'])
      await createClient(
        service.service.context.auth,
        {
          ...{ institutionId: lakeside?.id as InstitutionId, clientId: app, name: app, isFirstParty: true },
          ...{ secret: 'a-secret-that-is-long', grants: ['authorization_code'], scopes: ['openid'] },
          redirectUris: ['https://app.example/callback'],
          backchannelLogoutUri: `http://127.0.0.1:${port}/${app}`,
        },
        ownOrigin(),
      );
    const end = (app: string, sessions: number) =>
      service.db.superuser(
        `insert into logout_notices (institution_id, session_id, client_id, user_key)
         select institution_id, gen_random_uuid(), $1, user_key
         from (select * from users where user_id = 'u-demo-member' limit 1) u, generate_series(1, $2::int)`,
        [app, sessions],
      );
    // One less than it may have at a time.
    await end('silent', 7);
    await until(() => silent === 7, 'the requests to the silent app');
    await end('prompt', 20);
    await until(() => heard === 20, 'the requests to the other app');
    assert.equal(silent, 7);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    await service.close();
  }
});
