import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type PublicJwk, readCertificates } from '../../src/auth/index.ts';
import { paths, send } from '../support/demo.ts';
import {
  anAssertionClient,
  aProvider,
  exchangeAssertion,
  jwtBearer,
  saml2Bearer,
} from '../support/identity.ts';
import {
  type AssertionParts,
  anAssertion,
  at,
  audienceOf,
  canonicalizations,
  conditionsOf,
  confirmationOf,
  digests,
  enveloped,
  methods,
  nameIdOf,
  persistent,
  type SignatureParts,
  samlIssuer,
  signAssertion,
  signatureMark,
  signatureOver,
  toParameter,
} from '../support/saml.ts';
import { startTestService, type TestService } from '../support/service.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/saml/${name}`, import.meta.url), 'utf8');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const now = new Date('2026-03-02T12:00:00Z');

let service: TestService;
let clock = now;
let assertionClient: readonly [string, string];
let harborAssertionClient: readonly [string, string];
before(async () => {
  service = await startTestService({ clock: () => clock });
  assertionClient = await anAssertionClient(service, 'lakeside', 'bridge', ['account:read', 'transfer:read']);
  harborAssertionClient = await anAssertionClient(service, 'harbor', 'harbor-bridge', ['account:read']);
  const saml = { kind: 'saml', subjectFrom: persistent } as const;
  await aProvider(service, 'lakeside', {
    ...saml,
    providerId: 'hand',
    issuer: samlIssuer,
    keys: [keyOf(rsa.publicKey), keyOf(ec.publicKey)],
  });
  await aProvider(service, 'lakeside', {
    ...saml,
    providerId: 'jdk',
    issuer: 'https://saml.lakeside.example/idp',
    keys: readCertificates(fixture('rsa.pem') + fixture('ec.pem')),
  });
});
after(() => service.close());

function keyOf(key: KeyObject): PublicJwk {
  return key.export({ format: 'jwk' }) as PublicJwk;
}

const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
const exchangeXml = (xml: string, client = assertionClient) =>
  exchangeAssertion(service, client, saml2Bearer, toParameter(xml));
const signed = (
  parts: AssertionParts = {},
  signature: SignatureParts = {},
  key: KeyObject | string = rsa.privateKey,
) => signAssertion(anAssertion(clock, parts), key, signature);

describe('saml2-bearer grant: success', () => {
  for (const name of ['rsa-sha256', 'rsa-sha384', 'rsa-sha512-prefixes', 'ecdsa-sha256']) {
    test(`accepts a SAML assertion signed by the JDK: ${name}`, async () => {
      const answer = await exchangeXml(fixture(`${name}.xml`));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.scope, 'account:read transfer:read');
      const headers = { authorization: `Bearer ${answer.body.access_token}` };
      const accounts = await send(service.address, 'GET', paths.accounts, { headers });
      assert.equal(accounts.body[0].accountId.slice(0, 7), 'a-1001-');
    });
  }

  const hand: [string, SignatureParts, KeyObject][] = [
    ['RSA with SHA-256', {}, rsa.privateKey],
    ['RSA with SHA-384', { method: methods.rsaSha384, digestMethod: digests.sha384 }, rsa.privateKey],
    ['RSA with SHA-512', { method: methods.rsaSha512, digestMethod: digests.sha512 }, rsa.privateKey],
    ['ECDSA with SHA-256', { method: methods.ecdsaSha256 }, ec.privateKey],
    [
      'a KeyInfo that is nonsense, since it is not looked at',
      { keyInfo: '<ds:KeyInfo>?</ds:KeyInfo>' },
      rsa.privateKey,
    ],
  ];
  for (const [name, signature, key] of hand) {
    test(`accepts a SAML assertion signed as text: ${name}`, async () => {
      const answer = await exchangeXml(signed({}, signature, key));
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(Object.keys(answer.body), ['access_token', 'token_type', 'expires_in', 'scope']);
      assert.equal(answer.body.expires_in, 1800);
    });
  }

  test('accepts a SAML assertion in base64url with padding, as many libraries write it', async () => {
    for (let size = 0; size < 3; size += 1) {
      const xml = signed({ id: `_padded-${'x'.repeat(size)}` });
      const answer = await exchangeAssertion(service, assertionClient, saml2Bearer, padded(toParameter(xml)));
      assert.equal(answer.status, 200, answer.text);
    }
  });

  const fine: [string, () => AssertionParts][] = [
    [
      'a confirmation of another kind beside the bearer’s',
      () => ({
        confirmation: `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"></saml:SubjectConfirmation>${confirmationOf(now)}`,
      }),
    ],
    [
      'a confirmation for another recipient beside ours',
      () => ({
        confirmation: confirmationOf(now, { Recipient: 'https://other.example' }) + confirmationOf(now),
      }),
    ],
    [
      'Conditions without times',
      () => ({
        conditions: conditionsOf(now, { attributes: { NotBefore: undefined, NotOnOrAfter: undefined } }),
      }),
    ],
    [
      'OneTimeUse',
      () => ({
        conditions: conditionsOf(now, {
          inside: `${audienceOf('http://sharedraft.test')}<saml:OneTimeUse></saml:OneTimeUse>`,
        }),
      }),
    ],
    [
      'a clock a minute ahead',
      () => ({
        issueInstant: at(now, 60),
        conditions: conditionsOf(now, { attributes: { NotBefore: at(now, 60) } }),
      }),
    ],
    [
      'a clock almost a minute behind',
      () => ({ confirmation: confirmationOf(now, { NotOnOrAfter: at(now, -59) }) }),
    ],
  ];
  for (const [name, parts] of fine) {
    test(`accepts a SAML assertion with ${name}`, async () => {
      const answer = await exchangeXml(signed(parts()));
      assert.equal(answer.status, 200, answer.text);
    });
  }

  test('accepts a SAML assertion that is written differently from its signed form but means the same', async () => {
    const xml = signed()
      .replace('u-demo-member', 'u-demo&#45;member')
      .replace('<saml:Audience>', '<saml:Audience >')
      .replaceAll(' Version="2.0"', " Version='2.0'");
    assert.equal((await exchangeXml(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`)).status, 200);
  });

  test('a token for a SAML assertion ends with the provider’s session', async () => {
    const authn = `<saml:AuthnStatement AuthnInstant="${at(now, -5)}" SessionNotOnOrAfter="${at(now, 120)}"></saml:AuthnStatement>`;
    assert.equal((await exchangeXml(signed({ authn }))).body.expires_in, 120);
  });
});

describe('signature wrapping: a valid signature beside other content', () => {
  const evil = (parts: AssertionParts = {}) =>
    anAssertion(now, { id: '_evil', nameId: nameIdOf('u-wren-many'), ...parts });
  /** The signed assertion, its signature, and the assertion without it. */
  const pieces = () => {
    const whole = signed({ id: '_good' });
    const signature = /<ds:Signature .*<\/ds:Signature>/.exec(whole)?.[0] ?? '';
    return { whole, signature, bare: whole.replace(signature, '') };
  };
  const insideObject = (signature: string, content: string) =>
    signature.replace('</ds:Signature>', `<ds:Object>${content}</ds:Object></ds:Signature>`);
  const response = (...inside: string[]) =>
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r">${inside.join('')}</samlp:Response>`;

  const variants: Record<string, () => string> = {
    'XSW1: the signed one inside the signature of the evil one, as an object': () => {
      const { signature, bare } = pieces();
      return evil().replace(signatureMark, insideObject(signature, bare));
    },
    'XSW2: a detached signature beside the signed one, in the evil one': () => {
      const { signature, bare } = pieces();
      return evil({ rest: bare }).replace(signatureMark, signature);
    },
    'XSW3: the evil one before the signed one, in a response': () =>
      response(evil().replace(signatureMark, ''), pieces().whole),
    'XSW4: the signed one as a child of the evil one': () =>
      evil({ rest: pieces().whole }).replace(signatureMark, ''),
    'XSW5: the signature in the evil one, the signed one after it, in a response': () => {
      const { signature, bare } = pieces();
      return response(evil().replace(signatureMark, signature), bare);
    },
    'XSW6: the signed one in the signature that stands in the evil one, in a response': () => {
      const { signature, bare } = pieces();
      return response(evil().replace(signatureMark, insideObject(signature, bare)));
    },
    'XSW7: the evil one in an extension of the same response': () =>
      response(`<samlp:Extensions>${evil().replace(signatureMark, '')}</samlp:Extensions>`, pieces().whole),
    'XSW8: the evil one keeps the signed one in an object that is its own': () => {
      const { signature, bare } = pieces();
      return evil().replace(signatureMark, `${signature}<ds:Object xmlns:ds="x">${bare}</ds:Object>`);
    },
    'the evil one has the ID of the signed one': () => {
      const { signature, bare } = pieces();
      return evil({ id: '_good', rest: bare }).replace(signatureMark, signature);
    },
    'the signed one as advice of the evil one': () =>
      evil({ rest: `<saml:Advice>${pieces().whole}</saml:Advice>` }).replace(signatureMark, ''),
    'another element of the same ID': () =>
      pieces().whole.replace('</saml:Assertion>', '<x xmlns="" Id="_good"></x></saml:Assertion>'),
    'an Assertion of another namespace inside': () =>
      pieces().whole.replace('</saml:Assertion>', '<Assertion xmlns="urn:x"></Assertion></saml:Assertion>'),
    'the evil one under the signature of the signed one': () =>
      evil({ id: '_good' }).replace(signatureMark, pieces().signature),
    'a second NameID, after signing': () =>
      pieces().whole.replace('<saml:NameID', `${nameIdOf('u-wren-many')}<saml:NameID`),
    'another subject inside the signature, which no signature covers': () => {
      const { whole, signature } = pieces();
      const subject = `<saml:Subject>${nameIdOf('u-wren-many')}</saml:Subject>`;
      return whole.replace(signature, signature.replace('</ds:Signature>', `${subject}</ds:Signature>`));
    },
    'two SignedInfo, the first one right': () => {
      const { whole } = pieces();
      const info = /<ds:SignedInfo>.*<\/ds:SignedInfo>/.exec(whole)?.[0] ?? '';
      return whole.replace(info, info + info);
    },
    'a stranger’s signature beside the right one': () => {
      const { whole, bare } = pieces();
      return whole.replace('</saml:Issuer>', `</saml:Issuer>${signatureOver(bare, stranger.privateKey)}`);
    },
    'the signature deeper than a child': () => {
      const { bare, signature } = pieces();
      return bare.replace('</saml:Subject>', `${signature}</saml:Subject>`);
    },
  };
  for (const [name, make] of Object.entries(variants)) {
    test(`rejects a wrapped signature: ${name}`, async () => {
      const answer = await exchangeXml(make());
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant'], answer.text);
    });
  }

  test('accepts the unmodified pieces of the wrapping cases, so each is refused only for its wrapping', async () => {
    assert.equal((await exchangeXml(pieces().whole)).status, 200);
  });
});

describe('saml2-bearer grant: invalid_grant', () => {
  const times = (attributes: Record<string, string | undefined>, inside?: string) =>
    conditionsOf(now, { attributes, ...(inside !== undefined && { inside }) });
  const oneTime = audienceOf('http://sharedraft.test');
  const refused: [name: string, why: RegExp, make: () => string][] = [
    // the encoding: RFC 7522 section 2.1
    ['base64 instead of base64url', /base64url/, () => `${toParameter(signed())}+/`],
    ['with too much padding', /base64url/, () => `${padded(toParameter(signed()))}=`],
    ['with too little padding', /base64url/, () => `${toParameter('ab')}==`],
    ['with padding where none is due', /base64url/, () => `${toParameter('abc')}=`],
    ['with padding inside', /base64url/, () => `${padded(toParameter('ab'))}${toParameter(signed())}`],
    ['with line breaks', /base64url/, () => toParameter(signed()).replace(/^.{76}/, '$&\n')],
    ['with stray bits at the end', /base64url/, () => `${toParameter('ab').slice(0, -1)}p`],
    ['not UTF-8', /UTF-8/, () => Buffer.from([0x3c, 0xff, 0xfe]).toString('base64url')],
    ['more than 32 KiB', /32 KiB/, () => toParameter(signed({ rest: 'x'.repeat(32_768) }))],
    ['an empty document', /malformed/, () => toParameter(' ')],
    // the signature: RFC 7522 section 3 item 9, SAML core section 5.4
    ['unsigned', /one signature/, () => toParameter(anAssertion(now).replace(signatureMark, ''))],
    ['signed by a stranger', /not by a key/, () => toParameter(signed({}, {}, stranger.privateKey))],
    [
      'a name changed after signing',
      /not by a key/,
      () => toParameter(signed().replace('u-demo-member', 'u-wren-many')),
    ],
    [
      'an attribute added after signing',
      /not by a key/,
      () => toParameter(signed().replace('<saml:Issuer', '<saml:Issuer a="1"')),
    ],
    ['RSA with SHA-1', /SignatureMethod/, () => toParameter(signed({}, { method: methods.rsaSha1 }))],
    ['a digest of SHA-1', /DigestMethod/, () => toParameter(signed({}, { digestMethod: digests.sha1 }))],
    [
      'HMAC-SHA1, the public key as secret',
      /SignatureMethod/,
      () =>
        toParameter(
          signed(
            {},
            { method: methods.hmacSha1 },
            rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
          ),
        ),
    ],
    [
      'HMAC-SHA256, the public key as secret',
      /SignatureMethod/,
      () =>
        toParameter(
          signed(
            {},
            { method: methods.hmacSha256 },
            rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
          ),
        ),
    ],
    [
      'RSA-PSS, which is not accepted',
      /SignatureMethod/,
      () => toParameter(signed({}, { method: methods.rsaPss })),
    ],
    [
      'ECDSA with SHA-384, which is not accepted',
      /SignatureMethod/,
      () => toParameter(signed({}, { method: methods.ecdsaSha384 }, ec.privateKey)),
    ],
    [
      'key confusion: an EC key declared as RSA',
      /not by a key/,
      () => toParameter(signed({}, {}, ec.privateKey)),
    ],
    [
      'key confusion: an RSA key declared as EC',
      /not by a key/,
      () => toParameter(signed({}, { method: methods.ecdsaSha256 })),
    ],
    [
      'no SignatureMethod',
      /malformed|SignatureMethod/,
      () => toParameter(signed().replace(/<ds:SignatureMethod.*<\/ds:SignatureMethod>/, '')),
    ],
    [
      'canonicalization with comments',
      /CanonicalizationMethod/,
      () => toParameter(signed({}, { canonicalization: canonicalizations.withComments })),
    ],
    [
      'inclusive canonicalization',
      /CanonicalizationMethod/,
      () => toParameter(signed({}, { canonicalization: canonicalizations.inclusive })),
    ],
    [
      'a transform with comments',
      /Transform/,
      () => toParameter(signed({}, { transforms: [enveloped, canonicalizations.withComments] })),
    ],
    [
      'an XPath transform (XML signature 6.6.3)',
      /Transform/,
      () =>
        toParameter(
          signed(
            {},
            { transforms: ['http://www.w3.org/TR/1999/REC-xpath-19991116', canonicalizations.exclusive] },
          ),
        ),
    ],
    [
      'an XSLT transform (XML signature 6.6.5)',
      /Transform/,
      () =>
        toParameter(
          signed(
            {},
            { transforms: ['http://www.w3.org/TR/1999/REC-xslt-19991116', canonicalizations.exclusive] },
          ),
        ),
    ],
    [
      'three transforms',
      /Transforms/,
      () =>
        toParameter(
          signed({}, { transforms: [enveloped, canonicalizations.exclusive, canonicalizations.exclusive] }),
        ),
    ],
    [
      'one transform',
      /Transforms/,
      () => toParameter(signed({}, { transforms: [canonicalizations.exclusive] })),
    ],
    [
      'no reference to its ID (SAML core 5.4.2)',
      /Reference/,
      () => toParameter(signed({}, { uri: '#_other' })),
    ],
    [
      'a reference to the whole document (SAML core 5.4.2)',
      /Reference/,
      () => toParameter(signed({}, { uri: '' })),
    ],
    [
      'a reference to elsewhere (SAML core 5.4.2)',
      /Reference/,
      () => toParameter(signed({}, { uri: 'https://x.example/' })),
    ],
    [
      'two references (SAML core 5.4.2)',
      /SignedInfo/,
      () => toParameter(signed({}, { secondReference: '<ds:Reference URI="#_x"></ds:Reference>' })),
    ],
    [
      'a digest that is not its own',
      /not by a key/,
      () => toParameter(signed({}, { digest: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' })),
    ],
    [
      'a comment in the digest',
      /comment/,
      () => toParameter(signed().replace('<ds:DigestValue>', '<ds:DigestValue><!--x-->')),
    ],
    [
      'a signature of no length',
      /not by a key/,
      () => toParameter(signed().replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>AA==')),
    ],
    [
      'a certificate of its own in KeyInfo',
      /not by a key/,
      () =>
        toParameter(
          signed(
            {},
            { keyInfo: '<ds:KeyInfo><ds:X509Data></ds:X509Data></ds:KeyInfo>' },
            stranger.privateKey,
          ),
        ),
    ],
    [
      'a second assertion inside, though signed with it (2.1)',
      /more than one Assertion/,
      () =>
        toParameter(signed({ rest: '<saml:Advice><saml:Assertion ID="_b"></saml:Assertion></saml:Advice>' })),
    ],
    [
      'a second signature inside, though signed with it',
      /one signature/,
      () =>
        toParameter(
          signed({ rest: '<saml:Advice><ds:Signature xmlns:ds="urn:x"></ds:Signature></saml:Advice>' }),
        ),
    ],
    // XML features that SAML does not need: SAML core section 5.4.3 and 6, RFC 7522 section 8
    ['a document type', /declaration/, () => toParameter(`<!DOCTYPE x>${signed()}`)],
    [
      'entities',
      /declaration/,
      () =>
        toParameter(`<!DOCTYPE x [<!ENTITY who "u-demo-member">]>${signed({ nameId: nameIdOf('&who;') })}`),
    ],
    [
      'an external entity',
      /declaration/,
      () =>
        toParameter(
          `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>${signed({ nameId: nameIdOf('&f;') })}`,
        ),
    ],
    ['an entity that is not declared', /character/, () => toParameter(signed({ nameId: nameIdOf('&who;') }))],
    [
      'a comment in the name',
      /comment/,
      () => toParameter(signed().replace('u-demo-member', 'u-demo-member<!-- -->.x')),
    ],
    [
      'a comment anywhere',
      /comment/,
      () => toParameter(signed().replace('<saml:Subject>', '<!-- --><saml:Subject>')),
    ],
    [
      'CDATA in the name',
      /declaration/,
      () => toParameter(signed().replace('u-demo-member', '<![CDATA[u-demo-member]]>')),
    ],
    [
      'a processing instruction',
      /instruction/,
      () => toParameter(signed().replace('u-demo-member', 'u-demo<?x?>-member')),
    ],
    [
      'an element in the name',
      /NameID/,
      () => toParameter(signed({ nameId: nameIdOf('u-demo<b></b>-member') })),
    ],
    [
      'a NUL, by reference',
      /character/,
      () => toParameter(signed({ nameId: nameIdOf('u-demo-member&#0;') })),
    ],
    ['two roots', /malformed/, () => toParameter(signed() + signed())],
    ['text after the root', /malformed/, () => toParameter(`${signed()}text`)],
    [
      'an attribute twice',
      /malformed/,
      () => toParameter(signed().replace(' Version="2.0"', ' Version="2.0" Version="2.0"')),
    ],
    [
      'deep nesting',
      /too deep/,
      () => toParameter(signed({ rest: '<x>'.repeat(1000) + '</x>'.repeat(1000) })),
    ],
    // issuer and audience: RFC 7522 section 3, items 1 and 2
    [
      'no Issuer (item 1)',
      /Issuer/,
      () => toParameter(signed().replace(/<saml:Issuer>.*<\/saml:Issuer>/, '')),
    ],
    [
      'an unregistered Issuer (item 1)',
      /not registered/,
      () => toParameter(signed({ issuer: 'https://x.example' })),
    ],
    ['two Issuers', /Issuer/, () => toParameter(signed({ rest: '<saml:Issuer>x</saml:Issuer>' }))],
    ['no Conditions (item 2)', /Conditions/, () => toParameter(signed({ conditions: '' }))],
    [
      'no AudienceRestriction (item 2)',
      /AudienceRestriction/,
      () => toParameter(signed({ conditions: times({}, '') })),
    ],
    ['no Audience (item 2)', /Audience/, () => toParameter(signed({ conditions: times({}, audienceOf()) }))],
    [
      'another Audience (item 2)',
      /not registered/,
      () => toParameter(signed({ conditions: times({}, audienceOf('https://other.example')) })),
    ],
    [
      'another Audience beside us (item 2)',
      /Audience/,
      () =>
        toParameter(
          signed({ conditions: times({}, audienceOf('http://sharedraft.test', 'https://other.example')) }),
        ),
    ],
    [
      'two restrictions that both bind (SAML core 2.5.1.4)',
      /AudienceRestriction/,
      () => toParameter(signed({ conditions: times({}, oneTime + audienceOf('https://other.example')) })),
    ],
    [
      'an unknown condition (SAML core 2.5.1.1)',
      /Conditions/,
      () => toParameter(signed({ conditions: times({}, `${oneTime}<saml:Condition></saml:Condition>`) })),
    ],
    // the subject: items 3 and 5
    ['no Subject (item 3)', /Subject/, () => toParameter(signed({ subject: '' }))],
    [
      'two Subjects (item 3)',
      /Subject/,
      () => toParameter(signed({ rest: `<saml:Subject>${nameIdOf('u-wren-many')}</saml:Subject>` })),
    ],
    ['no NameID', /NameID/, () => toParameter(signed({ nameId: '' }))],
    ['an empty NameID', /NameID/, () => toParameter(signed({ nameId: nameIdOf('') }))],
    [
      'two NameIDs',
      /NameID/,
      () => toParameter(signed({ nameId: nameIdOf('u-demo-member') + nameIdOf('u-wren-many') })),
    ],
    [
      'a NameID of another format (SAML core 8.3)',
      /Format/,
      () =>
        toParameter(
          signed({
            nameId: nameIdOf('u-demo-member', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'),
          }),
        ),
    ],
    [
      'a NameID without its format (SAML core 8.3.1)',
      /Format/,
      () => toParameter(signed({ nameId: nameIdOf('u-demo-member', null) })),
    ],
    [
      'an encrypted NameID',
      /NameID/,
      () => toParameter(signed({ nameId: '<saml:EncryptedID></saml:EncryptedID>' })),
    ],
    [
      'no SubjectConfirmation (item 5)',
      /SubjectConfirmation/,
      () => toParameter(signed({ confirmation: '' })),
    ],
    [
      'a confirmation that is not the bearer’s (item 5)',
      /SubjectConfirmation/,
      () =>
        toParameter(signed({ confirmation: confirmationOf(now).replace('cm:bearer', 'cm:holder-of-key') })),
    ],
    [
      'a confirmation for another recipient (item 5)',
      /Recipient/,
      () =>
        toParameter(signed({ confirmation: confirmationOf(now, { Recipient: 'https://other.example' }) })),
    ],
    [
      'a confirmation for our issuer, not our token endpoint (item 5)',
      /Recipient/,
      () =>
        toParameter(signed({ confirmation: confirmationOf(now, { Recipient: 'http://sharedraft.test' }) })),
    ],
    [
      'a confirmation without a recipient (item 5)',
      /Recipient/,
      () => toParameter(signed({ confirmation: confirmationOf(now, { Recipient: undefined }) })),
    ],
    [
      'a confirmation without an end (item 5)',
      /NotOnOrAfter/,
      () => toParameter(signed({ confirmation: confirmationOf(now, { NotOnOrAfter: undefined }) })),
    ],
    [
      'a confirmation without data (item 5)',
      /SubjectConfirmationData/,
      () =>
        toParameter(
          signed({
            confirmation:
              '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"></saml:SubjectConfirmation>',
          }),
        ),
    ],
    // times: items 4 and 6
    [
      'expired by its conditions (item 4)',
      /expired/,
      () =>
        toParameter(signed({ conditions: times({ NotOnOrAfter: at(now, -60), NotBefore: at(now, -90) }) })),
    ],
    [
      'expired by its confirmation (item 5)',
      /expired/,
      () => toParameter(signed({ confirmation: confirmationOf(now, { NotOnOrAfter: at(now, -60) }) })),
    ],
    [
      'not yet valid (SAML core 2.5.1.2)',
      /not valid yet/,
      () => toParameter(signed({ conditions: times({ NotBefore: at(now, 61) }) })),
    ],
    [
      'not yet to be confirmed (SAML core 2.4.1.2)',
      /not valid yet/,
      () => toParameter(signed({ confirmation: confirmationOf(now, { NotBefore: at(now, 61) }) })),
    ],
    [
      'ending before it begins (SAML core 2.5.1.2)',
      /NotBefore/,
      () => toParameter(signed({ conditions: times({ NotBefore: at(now, 30), NotOnOrAfter: at(now, 20) }) })),
    ],
    [
      'an end unreasonably far ahead (item 4)',
      /too far/,
      () =>
        toParameter(
          signed({
            conditions: times({ NotOnOrAfter: at(now, 900) }),
            confirmation: confirmationOf(now, { NotOnOrAfter: at(now, 900) }),
          }),
        ),
    ],
    ['issued in the future', /IssueInstant/, () => toParameter(signed({ issueInstant: at(now, 61) }))],
    ['no IssueInstant (SAML core 2.3.3)', /IssueInstant/, () => toParameter(signed({ issueInstant: '' }))],
    [
      'a time with a zone (SAML core 1.3.3)',
      /NotOnOrAfter/,
      () =>
        toParameter(
          signed({ confirmation: confirmationOf(now, { NotOnOrAfter: '2026-03-02T14:04:00+02:00' }) }),
        ),
    ],
    [
      'a day that does not exist',
      /NotOnOrAfter/,
      () =>
        toParameter(signed({ confirmation: confirmationOf(now, { NotOnOrAfter: '2026-13-02T12:04:00Z' }) })),
    ],
    [
      'logged in in the future (item 6)',
      /AuthnInstant/,
      () =>
        toParameter(
          signed({ authn: `<saml:AuthnStatement AuthnInstant="${at(now, 61)}"></saml:AuthnStatement>` }),
        ),
    ],
    [
      'a session that has ended (SAML core 2.7.2)',
      /session/,
      () =>
        toParameter(
          signed({
            authn: `<saml:AuthnStatement AuthnInstant="${at(now, -90)}" SessionNotOnOrAfter="${at(now, 0)}"></saml:AuthnStatement>`,
          }),
        ),
    ],
    // its type
    ['SAML 1.1', /Version/, () => toParameter(signed({ version: '1.1' }))],
    [
      'a response around it (2.1)',
      /not a SAML 2.0 Assertion/,
      () =>
        toParameter(`<p:Response xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol">${signed()}</p:Response>`),
    ],
    [
      'an Assertion of another namespace',
      /not a SAML 2.0 Assertion/,
      () => toParameter(signed().replaceAll('SAML:2.0:assertion', 'SAML:1.0:assertion')),
    ],
    ['no ID (SAML core 2.3.3)', /ID/, () => toParameter(signed().replace(/ ID="[^"]*"/, ''))],
    ['an ID that would change a query', /ID/, () => toParameter(signed({ id: `x']|//*['` }))],
    // its subject
    ['an unknown member', /nobody/, () => toParameter(signed({ nameId: nameIdOf('u-nobody') }))],
    [
      'a member of another institution',
      /nobody/,
      () => toParameter(signed({ nameId: nameIdOf('u-demo-member-harbor') })),
    ],
    [
      'a member locked by an operator',
      /nobody/,
      () => toParameter(signed({ nameId: nameIdOf('u-heath-locked') })),
    ],
    ['an inactive member', /nobody/, () => toParameter(signed({ nameId: nameIdOf('u-moss-inactive') }))],
    [
      'with a space around the name',
      /nobody/,
      () => toParameter(signed({ nameId: nameIdOf(' u-demo-member ') })),
    ],
  ];
  for (const [name, why, make] of refused) {
    test(`rejects a SAML assertion with invalid_grant: ${name}`, async () => {
      const answer = await exchangeAssertion(service, assertionClient, saml2Bearer, make());
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant'], answer.text);
      assert.match(answer.body.error_description, why);
    });
  }

  for (const name of ['rsa-sha1', 'digest-sha1', 'hmac-sha256', 'comment', 'cdata']) {
    test(`rejects a SAML assertion that the JDK signed correctly: refused-${name}`, async () => {
      const answer = await exchangeXml(fixture(`refused-${name}.xml`));
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant'], answer.text);
      assert.match(answer.body.error_description, /SignatureMethod|DigestMethod|comment/);
    });
  }

  test('rejects a SAML assertion of another institution’s provider', async () => {
    const answer = await exchangeXml(signed(), harborAssertionClient);
    assert.match(answer.body.error_description, /not registered/);
  });

  test('rejects a SAML assertion of a JWT provider, and one sent as a JWT', async () => {
    const issuer = 'https://jwt.example';
    const keys = [{ ...keyOf(rsa.publicKey), alg: 'RS256' }];
    await aProvider(service, 'lakeside', { providerId: 'jwt', kind: 'jwt', issuer, keys });
    assert.match((await exchangeXml(signed({ issuer }))).body.error_description, /not registered/);
    const confused = await exchangeAssertion(service, assertionClient, jwtBearer, toParameter(signed()));
    assert.equal(confused.body.error, 'invalid_grant');
  });
});

describe('a SAML assertion is accepted once', () => {
  test('accepts one of twenty simultaneous uses of a SAML assertion (RFC 7522 3)', async () => {
    const once = signed();
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchangeXml(once)));
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
    const refusals = answers.filter((answer) => answer.status !== 200);
    assert.ok(refusals.every((answer) => /used already/.test(answer.body.error_description)));
  });

  test('rejects a SAML assertion signed again under a used ID', async () => {
    assert.equal((await exchangeXml(signed({ id: '_same' }))).status, 200);
    assert.match(
      (await exchangeXml(signed({ id: '_same', issueInstant: at(now, -1) }))).body.error_description,
      /used/,
    );
  });

  test('rejects a SAML assertion after its expiry', async () => {
    const xml = signed();
    clock = new Date(now.getTime() + 300_000);
    try {
      assert.match((await exchangeXml(xml)).body.error_description, /expired/);
    } finally {
      clock = now;
    }
  });
});
