import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from '../support/client.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
});
after(() => service.close());

/** Texts on which databases, JSON libraries and people have stumbled. */
const hostile = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  "'; drop table accounts; --",
  '%',
  '\\',
  '$1',
  '‮evil',
  '🦈'.repeat(50),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  ' ',
  '\n',
];

test('hostile text in any field, parameter or path never makes the service fail', async () => {
  for (const text of hostile) {
    const inPath = encodeURIComponent(text.toWellFormed());
    const answers = await Promise.all([
      app.post(paths.register, { memberNumber: text, email: 'a@example.test' }),
      app.post(paths.register, { memberNumber: '100016', email: `${text}@example.test` }),
      app.post(paths.register, { memberNumber: '100016', email: 'a@example.test', firstName: text }),
      app.post(paths.activate, { activationCode: text, username: text, password: text }),
      app.patch(`${paths.customer('c-1001')}/contact-info`, { emailAddress: text }),
      app.patch(`${paths.customer('c-1001')}/contact-info`, { phoneNumber: text }),
      app.patch(`${paths.customer(inPath)}/contact-info`, {}),
      app.get(`${paths.customer(inPath)}/contact-methods`),
      app.get(`${paths.customer(inPath)}/contact-methods?userIdType=EMAIL`),
      app.get(`${paths.customer(inPath)}/contact-methods?userIdType=LOGIN_ID`),
      app.get(`${paths.customer(inPath)}/accounts`),
      app.get(`${paths.accounts}?customerId=${inPath}`),
      app.get(`${paths.accounts}/${inPath}`),
      app.get(`${paths.transfers}/${inPath}`),
      app.post(paths.transfers, { fromAccountId: text, toAccountId: 'a-1001-savings', amount: 1 }),
      app.post(paths.transfers, { id: text, fromAccountId: 'a-1001-checking', toAccountId: text, amount: 1 }),
      app.post(paths.transfers, { fromAccountId: 'a', toAccountId: 'b', amount: 1, currencyCode: text }),
      app.post(paths.transfers, { [text]: 1, fromAccountId: 'a', toAccountId: 'b', amount: 1 }),
    ]);
    for (const [index, answer] of answers.entries()) {
      const what = `${index} with ${JSON.stringify(text).slice(0, 40)}: ${answer.text}`;
      assert.ok(answer.status < 500, what);
    }
  }
});

test('hostile text in a token request never makes the service fail', async () => {
  const http = new Client(service.address);
  const good = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  for (const text of hostile) {
    for (const parameters of [
      { grant_type: text, ...good },
      { grant_type: 'client_credentials', ...good, client_id: text },
      { grant_type: 'client_credentials', ...good, client_secret: text },
      { grant_type: 'client_credentials', ...good, scope: text },
      { grant_type: 'password', ...good, username: text, password: 'x' },
      { grant_type: 'password', ...good, username: 'demo.member', password: text },
    ]) {
      const json = await http.post('/auth/v2/token', { json: parameters });
      assert.ok([400, 401].includes(json.status), json.text);
      const form = await http.post('/auth/v2/token', { form: parameters });
      assert.ok([400, 401].includes(form.status), form.text);
    }
    const basic = Buffer.from(`${text}:${text}`).toString('base64');
    const reply = await http.post('/auth/v2/token', {
      form: { grant_type: 'client_credentials' },
      headers: { authorization: `Basic ${basic}` },
    });
    assert.ok([400, 401].includes(reply.status), reply.text);
  }
});
