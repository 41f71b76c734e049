import assert from 'node:assert/strict';
import { TestOperator } from './operators.ts';
import type { TestService } from './service.ts';
import type { TestBrowser } from './sign-in.ts';

async function send(service: TestService, route: string, form: Readonly<Record<string, string>>) {
  const body = new URLSearchParams({ client_id: 'sharedraft-cli', ...form });
  const response = await fetch(service.address + route, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> };
}

/** A command line that an operator has approved in this browser, and that has not asked since. */
export async function approvedDevice(service: TestService, institution: string, browser: TestBrowser) {
  const { body } = await send(service, '/operations/device-authorization', {
    institution,
    machine: 'laptop',
  });
  const page = await browser.post('/operations/device', { code: body.user_code ?? '' });
  const decision = { request: page.request, answer: 'approve' };
  assert.match((await browser.post('/operations/device/decide', decision)).text, /is signed in/);
  const deviceCode = body.device_code ?? '';
  return {
    /** The error, or the status of the session that began. The first poll is never too early. */
    async poll(): Promise<string | number> {
      const grant = 'urn:ietf:params:oauth:grant-type:device_code';
      const form = { grant_type: grant, device_code: deviceCode };
      const { body: polled } = await send(service, '/operations/token', form);
      if (polled.access_token === undefined) return polled.error ?? '';
      return (await new TestOperator(service.address, polled.access_token).get('/session')).status;
    },
  };
}
