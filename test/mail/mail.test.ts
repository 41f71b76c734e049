import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import {
  configureMail,
  isMailAddress,
  liftSuppression,
  listSuppressions,
  stopMail,
} from '../../src/mail/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

/* Alerts by e-mail, through a mail server on this machine. */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const checking = 'a-1001-checking';
const origin = ownOrigin();
const sender = { fromName: 'Lakeside Credit Union', fromAddress: 'alerts@lakeside.example', replyTo: null };

let now = Date.now();
let mailbox: Mailbox;
let service: TestService;
let member: Sharedraft;
let bank: Sharedraft;
let institutionId: InstitutionId;
/** The verified address of the demo member. */
let address: string;

before(async () => {
  mailbox = await startMailbox();
  service = await startTestService({
    clock: () => new Date(now),
    environment: { SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`, PUBLIC_URL: 'https://bank.example' },
  });
  await service.db.superuser(
    `update clients set scopes = scopes || '{alertMail:write}' where client_id = 'demo-app'`,
  );
  bank = new Sharedraft({ baseUrl: service.address, auth: clientCredentials(app) });
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ baseUrl: service.address, auth: password(app, demo) });
  const [row] = await service.db.superuser<{ id: InstitutionId }>(
    `select institution_id as id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.id as InstitutionId;
  const [user] = await service.db.superuser<{ address: string }>(
    `select verified_email as address from users where username = 'demo.member' and institution_id = $1`,
    [institutionId],
  );
  address = user?.address ?? '';
});
after(async () => {
  await service.close();
  await mailbox[Symbol.asyncDispose]();
});

beforeEach(async () => {
  mailbox.received.length = 0;
  mailbox.asked.length = 0;
  mailbox.refuse = () => undefined;
  const { context } = service.service;
  await stopMail(context, institutionId, origin);
  await service.db.superuser('delete from mail_suppressions');
  await want('EMAIL');
  await configureMail(context, institutionId, { sender, origin });
});

const want = (...channels: ('EMAIL' | 'INBOX')[]) =>
  member.alerts.replacePreferences({
    alerts: [{ alertType: 'PAYMENT', accountId: checking, threshold: '1.00', channels }],
  });

const pay = (amount: string) =>
  member.transfers.create({ fromAccountId: checking, toAccountId: 'a-1001-savings', amount });

const mails = (count: number) => until(() => mailbox.received.length >= count, `${count} mails`);

test('an alert arrives by mail as text and HTML with a Message-ID of its event, and can be stopped with one click', async () => {
  await pay('1.23');
  await mails(1);
  const [mail] = mailbox.received;
  assert.ok(mail !== undefined);
  assert.deepEqual([mail.from, mail.to], [sender.fromAddress, [address]]);
  const { headers, raw } = mail;
  assert.equal(headers.get('from'), `"${sender.fromName}" <${sender.fromAddress}>`.replaceAll('"', ''));
  assert.equal(headers.get('subject'), 'A payment went out');
  assert.equal(headers.get('auto-submitted'), 'auto-generated');
  const [event] = (await bank.events.read({ from: 1, limit: 200 })).events.filter(
    ({ eventType }) => eventType === 'member.alert_raised',
  );
  assert.equal(headers.get('message-id'), `<${event?.eventId}@lakeside.example>`);
  assert.match(raw, /Content-Type: text\/plain/);
  assert.match(raw, /Content-Type: text\/html/);
  assert.match(decoded(raw), /1\.23 USD was paid from Share Draft …\w{4}\. Available:/);
  assert.equal(headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  const link = new URL(headers.get('list-unsubscribe')?.slice(1, -1) ?? '');
  assert.equal(link.origin, 'https://bank.example');

  const page = await fetch(`${service.address}${link.pathname}${link.search}`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Stop alerts by e-mail\?/);
  assert.equal(
    (await member.alerts.preferences()).alerts[0]?.channels.join(),
    'EMAIL',
    'to look changes nothing',
  );
  const stopped = await fetch(`${service.address}${link.pathname}${link.search}`, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  assert.equal(stopped.status, 200);
  assert.deepEqual((await member.alerts.preferences()).alerts[0]?.channels, ['INBOX']);
  const entries = await service.db.superuser(
    `select 1 from audit_entries where action = 'alert.mail_stopped'`,
  );
  assert.equal(entries.length, 1);
});

test('a digest is one mail with a line for each alert, and can be stopped', async () => {
  const at = new Date(now + 60_000).toISOString().slice(11, 16);
  await member.alerts.replacePreferences({
    timeZone: 'UTC',
    digestAt: at,
    alerts: [{ alertType: 'PAYMENT', accountId: checking, threshold: '1.00', channels: ['EMAIL'] }],
  });
  for (const amount of ['2.34', '3.45']) await pay(amount);
  await until(async () => {
    const waiting = await service.db.superuser('select from alerts where in_digest and released_at is null');
    return waiting.length === 2;
  }, 'two waiting alerts');
  now += 60_000;
  await mails(1);
  const [mail, ...others] = mailbox.received;
  assert.deepEqual(others, []);
  assert.equal(mail?.headers.get('subject'), 'Your alerts of the day');
  assert.match(decoded(mail?.raw ?? ''), /2\.34 USD was paid [\s\S]*3\.45 USD was paid /);
  assert.ok(mail?.headers.has('list-unsubscribe'));
});

test('a forged, cut or foreign link stops nothing', async () => {
  const path = `${service.address}/alerts/unsubscribe`;
  const sealed = service.service.context.auth.vault.seal(
    'another purpose',
    Buffer.from('[1,"u-demo-member","en"]'),
  );
  for (const token of ['', 'x', 'A'.repeat(200), Buffer.from(sealed).toString('base64url')]) {
    for (const method of ['GET', 'POST']) {
      assert.equal((await fetch(`${path}?token=${token}`, { method })).status, 400, `${method} ${token}`);
    }
  }
  assert.deepEqual((await member.alerts.preferences()).alerts[0]?.channels, ['EMAIL']);
});

test('a security alert arrives without a way to stop it, in the language of the member', async () => {
  await member.alerts.replacePreferences({ alerts: [], language: 'es' });
  await raiseSecurityAlert();
  await mails(1);
  const [mail] = mailbox.received;
  assert.equal(mail?.headers.get('list-unsubscribe'), undefined);
  assert.match(decoded(mail?.raw ?? ''), /Sus datos de contacto cambiaron/);
  assert.match(decoded(mail?.raw ?? ''), /no se pueden desactivar/);
});

test('a mail server that is busy gets the message again, with the same Message-ID', async () => {
  mailbox.refuse = (step) => (step === 'DATA' ? { code: 451, text: '4.3.0 try again' } : undefined);
  await pay('2.00');
  await until(() => mailbox.asked.length >= 1, 'an attempt');
  assert.equal(mailbox.received.length, 0);
  mailbox.refuse = () => undefined;
  await until(() => {
    now += 10_000;
    return mailbox.received.length === 1;
  }, 'the mail');
  assert.equal(mailbox.received[0]?.to[0], address);
});

test('a mail server that refuses our sender or our login keeps the message waiting, and suppresses no address', async () => {
  mailbox.refuse = (step) => (step === 'MAIL' ? { code: 550, text: '5.7.1 sender not allowed' } : undefined);
  await pay('2.10');
  await until(async () => (await attempts()).some(({ error }) => error === 'status_550'), 'the refusal');
  assert.deepEqual(await suppressed(), []);
  mailbox.refuse = () => undefined;
  await until(() => {
    now += 10_000;
    return mailbox.received.length === 1;
  }, 'the mail');
});

test('no address is suppressed when the mail server does not relay for us', async () => {
  mailbox.refuse = (step) => (step === 'RCPT' ? { code: 554, text: '5.7.1 relay access denied' } : undefined);
  await pay('2.20');
  await until(() => mailbox.asked.length >= 1, 'an attempt');
  await until(async () => (await attempts()).length > 0, 'the note');
  assert.deepEqual(await suppressed(), []);
});

test('a mailbox that does not exist is suppressed at once, and gets mail again after an operator lifts it', async () => {
  mailbox.refuse = (step) => (step === 'RCPT' ? { code: 550, text: '5.1.1 no such user' } : undefined);
  await pay('3.00');
  await until(async () => (await suppressed()).length === 1, 'the suppression');
  assert.deepEqual(await suppressed(), [[address, 'REFUSED']]);
  await until(async () => (await attempts()).length === 1, 'the note');
  assert.deepEqual(await attempts(), [{ error: 'address_refused', status: 550 }]);
  const asked = mailbox.asked.length;
  await pay('3.10');
  await until(async () => (await attempts()).some(({ error }) => error === 'suppressed'), 'the second alert');
  assert.equal(mailbox.asked.length, asked, 'no further attempt');
  mailbox.refuse = () => undefined;
  assert.equal(await liftSuppression(service.service.context, institutionId, { address, origin }), true);
  assert.equal(await liftSuppression(service.service.context, institutionId, { address, origin }), false);
  await pay('3.20');
  await mails(1);
});

test('a report of a bounce or a complaint suppresses the address, in any case of its letters, and a repetition changes nothing', async () => {
  const report = { emailAddress: address.toUpperCase(), kind: 'COMPLAINT' } as const;
  assert.deepEqual(await bank.alerts.reportBounce(report), { suppressed: true });
  await bank.alerts.reportBounce({ ...report, kind: 'BOUNCE' });
  assert.deepEqual(await suppressed(), [[address, 'COMPLAINED']]);
  await pay('4.00');
  await until(async () => (await attempts()).some(({ error }) => error === 'suppressed'), 'the alert');
  assert.equal(mailbox.asked.length, 0);
  await assert.rejects(bank.alerts.reportBounce({ ...report, emailAddress: 'a@b\r\nRCPT TO:<c@d>' }), {
    code: 'invalid_request',
  });
});

test('no text reaches a header: addresses and names with line ends, quotes and brackets are refused or encoded', async () => {
  for (const hostile of [
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example,c@d.example',
    '"a@b.example>"@c.example',
    '<a@b.example>',
    'a@b.example\u0000',
    'a b@c.example',
    'a@b.example\u2028Bcc: c@d.example',
    'a@[127.0.0.1]',
    '@b.example',
    'a@',
    `${'a'.repeat(65)}@b.example`,
  ]) {
    assert.equal(isMailAddress(hostile), false, JSON.stringify(hostile));
  }
  const { context } = service.service;
  for (const fromName of ['A\r\nBcc: c@d.example', 'A\u0000', '', 'x'.repeat(101), 'A\u2028B']) {
    const wanted = { ...sender, fromName };
    await assert.rejects(configureMail(context, institutionId, { sender: wanted, origin }), {
      code: 'invalid_request',
    });
  }
  const quoted = { ...sender, fromName: '"Lakeside" <evil@x.example>, Bcc' };
  await configureMail(context, institutionId, { sender: quoted, origin });
  await service.db.superuser(`update accounts set description = $1 where account_id = $2`, [
    '<b>Draft</b>{amount}',
    checking,
  ]);
  await pay('5.00');
  await mails(1);
  const [mail] = mailbox.received;
  assert.deepEqual([mail?.from, mail?.to], [sender.fromAddress, [address]]);
  assert.equal(mail?.headers.get('bcc'), undefined);
  const html = decoded(mail?.raw ?? '');
  assert.ok(html.includes('&lt;b&gt;Draft&lt;/b&gt;{amount}'), html);
  await service.db.superuser(`update accounts set description = 'Share Draft' where account_id = $1`, [
    checking,
  ]);
});

test('an institution that begins to send mail sends no alert from before, and one that stops gives up what waits', async () => {
  const { context } = service.service;
  await stopMail(context, institutionId, origin);
  await pay('6.00');
  await until(async () => (await released(600)) === 1, 'the alert');
  // The feed holds an event back while an older transaction runs.
  await until(async () => {
    const { events } = await bank.events.read({ from: 1, limit: 200 });
    return events.some(({ data }) => data?.amount === '6.00');
  }, 'the alert in the feed');
  await configureMail(context, institutionId, { sender, origin });
  await pay('6.10');
  await mails(1);
  assert.match(decoded(mailbox.received[0]?.raw ?? ''), /6\.10 USD/);
});

test('a mail endpoint belongs to no client, and to the operator only with its status', async () => {
  assert.deepEqual(await bank.webhooks.list(), []);
});

async function raiseSecurityAlert(): Promise<void> {
  await service.db.superuser(
    `insert into outbox (institution_id, epoch, kind, subject_key, recorded_at, data)
     select u.institution_id, coalesce((select max(e.epoch) from event_epochs e where e.institution_id = u.institution_id), 0),
            'member.contact_changed', u.user_key, now(), '{}'
     from users u where u.username = 'demo.member' and u.institution_id = $1`,
    [institutionId],
  );
}

async function released(amountMinor: number): Promise<number> {
  const [row] = await service.db.superuser<{ count: number }>(
    `select count(*)::int as count from alerts where released_at is not null and institution_id = $1 and amount = $2`,
    [institutionId, amountMinor],
  );
  return row?.count ?? 0;
}

async function attempts() {
  return service.db.superuser<{ error: string | null; status: number | null }>(
    `select a.error, a.status from webhook_attempts a
     join webhook_endpoints e on e.institution_id = a.institution_id and e.endpoint_id = a.endpoint_id
     where e.transport = 'SMTP' order by a.attempt_key`,
  );
}

async function suppressed() {
  const all = await Array.fromAsync(listSuppressions(service.service.context, institutionId));
  return all.map((one) => [one.address, one.reason]);
}

/** The parts of a message with their encoding undone, as far as these tests need it. */
function decoded(raw: string): string {
  const parts = raw.split(/\r\n--[^\r\n]+\r\n/).map((part) => {
    const [head = '', ...body] = part.split('\r\n\r\n');
    const text = body.join('\r\n\r\n');
    if (/base64/i.test(head)) return Buffer.from(text, 'base64').toString();
    if (!/quoted-printable/i.test(head)) return text;
    const bytes = text
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return Buffer.from(bytes, 'latin1').toString();
  });
  return parts.join('\n');
}
