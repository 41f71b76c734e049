import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { SessionCookie } from '../../src/http/operators/session-cookie.ts';
import { Cookies } from '../../src/http/sign-in/cookies.ts';
import type { InstitutionId } from '../../src/institutions/index.ts';

const institutionId = 7 as InstitutionId;
const operator = (publicUrl: string) => new SessionCookie(publicUrl);
const withCookie = (cookie: string) => ({ headers: { cookie } }) as FastifyRequest;

test('a cookie over https is for this host only, for no script, and for no form of another site', () => {
  const url = 'https://bank.example';
  const set = [
    ...new Cookies(url).toSet({ browser: 'b', session: { institutionId, secret: 's' } }),
    ...new Cookies(url).toSet({ session: { institutionId, secret: null } }),
    operator(url).toSet('o'),
    operator(url).toSet(null),
  ];
  assert.equal(set.length, 5);
  for (const cookie of set) {
    const [pair = '', ...attributes] = cookie.split('; ');
    assert.match(pair, /^__Host-(browser|session-7|operator)=/);
    for (const attribute of ['Path=/', 'HttpOnly', 'SameSite=Lax', 'Secure'])
      assert.ok(attributes.includes(attribute), cookie);
    assert.ok(!attributes.some((attribute) => attribute.startsWith('Domain')), cookie);
  }
});

test('a cookie without the prefix counts for nothing over https, and a name that comes twice counts as absent', () => {
  const cookies = new Cookies('https://bank.example');
  assert.equal(cookies.session('session-7=planted', institutionId), undefined);
  assert.equal(cookies.browser('__Host-browser=one; __Host-browser=two'), undefined);
  assert.equal(cookies.session('__Host-session-7=own', institutionId), 'own');
  assert.equal(operator('https://bank.example').read(withCookie('operator=planted')), undefined);
  assert.equal(operator('https://bank.example').read(withCookie('__Host-operator=own')), 'own');
});
