import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProvenAddress, isRedirectUri, isRegistered, withParameters } from './redirect-uri.ts';

test('registers https, loopback http and private schemes', () => {
  for (const uri of [
    'https://app.example/callback?tenant=7',
    'http://127.0.0.1/',
    'http://[::1]:8400/back',
    'http://localhost:3000/back',
    'com.example.app:/back',
  ])
    assert.equal(isRedirectUri(uri), true, uri);
});

test('refuses to register an address that another program or server could receive', () => {
  for (const uri of [
    'http://app.example/callback',
    'https://app.example/#fragment',
    'https://user:secret@app.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp:/back',
    '//app.example/',
    'https://app.example/ space',
    'https://app.example/é',
    '',
    `https://app.example/${'a'.repeat(1024)}`,
  ])
    assert.equal(isRedirectUri(uri), false, uri);
});

test('compares an address exactly, and leaves only the port of the loopback address free', () => {
  const registered = ['https://app.example/a', 'http://127.0.0.1/back', 'http://localhost:3000/'];
  for (const uri of ['https://app.example/a', 'http://127.0.0.1:51004/back', 'http://localhost:3000/'])
    assert.equal(isRegistered(uri, registered, 'https://bank.example'), true, uri);
  for (const uri of [
    'https://app.example/a/',
    'https://app.example/a/../b',
    'https://app.example:443/a',
    'HTTPS://app.example/a',
    'http://127.0.0.1:51004/other',
    'http://127.0.0.1.evil.example/back',
    'http://127.0.0.1:80@evil.example/back',
    'http://localhost:3001/',
    'http://[::1]/back',
  ])
    assert.equal(isRegistered(uri, registered, 'https://bank.example'), false, uri);
});

test('the name of our own pages stands for the address, with its port only', () => {
  const issuer = 'http://127.0.0.1:8080';
  const registered = ['http://127.0.0.1/app/demo-web'];
  assert.equal(isRegistered('http://localhost:8080/app/demo-web', registered, issuer), true);
  for (const uri of [
    'http://localhost:8081/app/demo-web',
    'http://localhost/app/demo-web',
    'http://localhost:8080/app/other',
    'http://localhost:8080.evil.example/app/demo-web',
    'http://localhost:8080@evil.example/app/demo-web',
  ])
    assert.equal(isRegistered(uri, registered, issuer), false, uri);
});

test('adds the parameters of the response to those of the address', () => {
  assert.equal(
    withParameters('https://a.example/?x=1', { code: 'a b', state: undefined }),
    'https://a.example/?x=1&code=a%20b',
  );
  assert.equal(withParameters('com.example.app:/back', { code: 'c' }), 'com.example.app:/back?code=c');
  assert.equal(withParameters('https://a.example/', { state: undefined }), 'https://a.example/');
});

test('takes https and pages of the service for addresses that no other program can claim', () => {
  const issuer = 'http://127.0.0.1:8080';
  for (const uri of ['https://app.example/a', `${issuer}/app/`, 'http://localhost:8080/app/'])
    assert.equal(isProvenAddress(uri, issuer), true, uri);
  for (const uri of ['http://127.0.0.1:51004/back', `${issuer}0/`, 'com.example.app:/back'])
    assert.equal(isProvenAddress(uri, issuer), false, uri);
});
