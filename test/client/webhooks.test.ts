import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { WebhookVerificationError, webhooks } from '../../client/src/index.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const whpk = `whpk_${Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`;
const body = '{"eventId":"e-1","transfer":{"amount":105.20}}';

interface Signed {
  readonly secret?: string;
  readonly at?: Date;
  readonly text?: string;
}

function headersOf({ secret: by = secret, at = new Date(), text = body }: Signed = {}) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(by.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`e-1.${timestamp}.${text}`).digest('base64');
  return { 'webhook-id': 'e-1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

test('returns the event of a webhook that its secret signed', async () => {
  const event = await webhooks.unwrap(body, headersOf(), secret);
  assert.equal(event.transfer?.amount, '105.20');
});

test('accepts the signatures of standardwebhooks and of svix', async () => {
  const at = new Date();
  const timestamp = String(Math.floor(at.getTime() / 1000));
  for (const oracle of [new StandardWebhook(secret), new SvixWebhook(secret)]) {
    const signature = oracle.sign('e-1', at, body);
    const headers = { 'webhook-id': 'e-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    assert.equal((await webhooks.unwrap(body, new Headers(headers), secret)).eventId, 'e-1');
  }
});

test('accepts an Ed25519 signature by the public key', async () => {
  const headers = headersOf();
  const signed = Buffer.from(`e-1.${headers['webhook-timestamp']}.${body}`);
  headers['webhook-signature'] += ` v1a,${sign(null, signed, privateKey).toString('base64')}`;
  assert.equal((await webhooks.unwrap(new TextEncoder().encode(body), headers, whpk)).eventId, 'e-1');
});

test('accepts either secret while one is being rotated', async () => {
  const next = `whsec_${randomBytes(24).toString('base64')}`;
  await webhooks.unwrap(body, headersOf({ secret: next }), [secret, next]);
  const both = headersOf();
  both['webhook-signature'] += ` ${headersOf({ secret: next })['webhook-signature']}`;
  await webhooks.unwrap(body, both, next);
});

const forgeries: Readonly<Record<string, () => Promise<unknown>>> = {
  'another body': () => webhooks.unwrap(`${body} `, headersOf(), secret),
  'another id': () => webhooks.unwrap(body, { ...headersOf(), 'webhook-id': 'e-2' }, secret),
  'another secret': () => webhooks.unwrap(body, headersOf(), `whsec_${randomBytes(32).toString('base64')}`),
  'a time six minutes ago': () =>
    webhooks.unwrap(body, headersOf({ at: new Date(Date.now() - 360_000) }), secret),
  'a time six minutes ahead': () =>
    webhooks.unwrap(body, headersOf({ at: new Date(Date.now() + 360_000) }), secret),
  'a time that is none': () => webhooks.unwrap(body, { ...headersOf(), 'webhook-timestamp': 'now' }, secret),
  'no signature': () => webhooks.unwrap(body, { ...headersOf(), 'webhook-signature': '' }, secret),
  'a signature that is not base64': () =>
    webhooks.unwrap(body, { ...headersOf(), 'webhook-signature': 'v1,%%%' }, secret),
  'a symmetric signature under a public key': () => webhooks.unwrap(body, headersOf(), whpk),
  'no header': () => webhooks.unwrap(body, {}, secret),
};
for (const [name, attempt] of Object.entries(forgeries)) {
  test(`refuses a webhook with ${name}`, async () => {
    await assert.rejects(attempt(), WebhookVerificationError);
  });
}
