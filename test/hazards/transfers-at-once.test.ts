import { after } from 'node:test';
import { startTestService, type TestService } from '../support/service.ts';
import { testTransfersAtOnce } from './transfers-at-once.ts';

// Two services on one database: locks, ids and limits must hold between them, too.
let one: TestService;
let two: TestService;
after(async () => {
  await two.close();
  await one.close();
});

testTransfersAtOnce(async () => {
  one = await startTestService();
  two = await startTestService({ beside: one });
  return { addresses: [one.address, two.address], db: one.db };
});
