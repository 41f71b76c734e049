import type { Element } from '@xmldom/xmldom';
import type { Assertion } from '../assertion.ts';
import { furthestExpirySeconds } from '../assertion.ts';
import { InvalidAssertionError } from '../invalid-assertion-error.ts';
import { clockSkewSeconds } from '../jwt.ts';
import type { ActiveProvider } from '../providers.ts';
import { loneAssertion, samlNamespace, signedAssertion } from './saml-signature.ts';
import { attribute, childElements, childrenCalled, malformed, onlyChild, textOf } from './xml.ts';

const maxBytes = 32_768;
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const entity = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity';
const unspecified = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const skewMillis = clockSkewSeconds * 1000;
/** The supported conditions. Any other makes an assertion's validity unknown (SAML core section 2.5.1.1). */
const conditionNames = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];

/**
 * RFC 7522 section 2.1: base64url without line breaks or stray bits. The RFC excludes padding, but many libraries write it, so exact
 * padding is accepted. Throws InvalidAssertionError.
 */
export function decodeAssertion(parameter: string): string {
  const bytes = Buffer.from(parameter, 'base64url');
  const plain = bytes.toString('base64url');
  const padded = plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
  if (parameter !== plain && parameter !== padded)
    throw malformed('it must be base64url (RFC 7522, section 2.1)');
  if (bytes.length > maxBytes) throw malformed('more than 32 KiB');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('it must be UTF-8');
  }
}

/** Reads the unverified issuer and audience of an assertion. Throws InvalidAssertionError. */
export function peekSaml(xml: string): { readonly issuer: string; readonly audiences: readonly string[] } {
  const { root } = loneAssertion(xml);
  return { issuer: issuerOf(root), audiences: [audienceOf(onlyChild(root, samlNamespace, 'Conditions'))] };
}

/**
 * Verifies a SAML 2.0 assertion (RFC 7522 section 3) and reads it from its signed bytes only. `tokenEndpoint`: the required
 * Recipient. Throws InvalidAssertionError.
 */
export function verifySaml(
  provider: ActiveProvider,
  xml: string,
  { tokenEndpoint, now }: { readonly tokenEndpoint: string; readonly now: Date },
): Assertion {
  const root = signedAssertion(xml, provider.verificationKeys);
  if (attribute(root, 'Version') !== '2.0') throw malformed('Version');
  if (issuerOf(root) !== provider.issuer) throw wrong('Issuer');
  checkPast(instant(root, 'IssueInstant'), now, 'IssueInstant');

  const conditions = onlyChild(root, samlNamespace, 'Conditions');
  if (audienceOf(conditions) !== provider.audience) throw wrong('Audience');
  if (!childElements(conditions).every(isUnderstood)) throw wrong('Conditions');
  const validTo = endOf(conditions, now);

  const subject = onlyChild(root, samlNamespace, 'Subject');
  const nameId = onlyChild(subject, samlNamespace, 'NameID');
  if ((attribute(nameId, 'Format') ?? unspecified) !== provider.subjectFrom) throw wrong('NameID Format');
  const confirmedTo = confirmationEnd(subject, tokenEndpoint, now);
  const expiresAtMillis = Math.min(validTo, confirmedTo);
  if (expiresAtMillis > now.getTime() + skewMillis + furthestExpirySeconds * 1000) {
    throw new InvalidAssertionError('Its NotOnOrAfter is too far ahead.');
  }

  const statements = childrenCalled(root, samlNamespace, 'AuthnStatement');
  const authenticatedAt = statements.map((statement) => instant(statement, 'AuthnInstant'));
  for (const millis of authenticatedAt) checkPast(millis, now, 'AuthnInstant');
  const sessionEnds = statements.map((statement) =>
    instantOr(statement, 'SessionNotOnOrAfter', Number.POSITIVE_INFINITY),
  );
  return {
    id: attribute(root, 'ID') ?? '',
    subject: textOf(nameId),
    expiresAtMillis,
    // An AuthnContext is no method of RFC 8176.
    methods: [],
    sessionEndsAtMillis: Math.min(Number.POSITIVE_INFINITY, ...sessionEnds),
    ...(authenticatedAt.length > 0 && {
      authTime: Math.floor(Math.min(now.getTime(), ...authenticatedAt) / 1000),
    }),
  };
}

function issuerOf(root: Element): string {
  const issuer = onlyChild(root, samlNamespace, 'Issuer');
  if ((attribute(issuer, 'Format') ?? entity) !== entity) throw wrong('Issuer');
  return textOf(issuer);
}

/** Exactly one audience: a recipient that is another audience could replay the assertion here. */
function audienceOf(conditions: Element): string {
  const restriction = onlyChild(conditions, samlNamespace, 'AudienceRestriction');
  return textOf(onlyChild(restriction, samlNamespace, 'Audience'));
}

function isUnderstood(condition: Element): boolean {
  return condition.namespaceURI === samlNamespace && conditionNames.includes(condition.localName);
}

/**
 * The end of the confirmation by bearer (RFC 7522 section 3, item 5). One suitable confirmation is enough (SAML core section 2.4.1.1);
 * the longest counts.
 */
function confirmationEnd(subject: Element, tokenEndpoint: string, now: Date): number {
  const confirmations = childrenCalled(subject, samlNamespace, 'SubjectConfirmation').filter(
    (confirmation) => attribute(confirmation, 'Method') === bearer,
  );
  const suitable = confirmations
    .map((confirmation) => onlyChild(confirmation, samlNamespace, 'SubjectConfirmationData'))
    .filter((data) => attribute(data, 'Recipient') === tokenEndpoint);
  if (suitable.length === 0) throw wrong('SubjectConfirmation: bearer, with our token endpoint as Recipient');
  if (suitable.some((data) => attribute(data, 'NotOnOrAfter') === undefined)) throw wrong('NotOnOrAfter');
  return Math.max(...suitable.map((data) => endOf(data, now)));
}

/** The end of the element's validity, which must contain the present, with a tolerance for clocks. */
function endOf(element: Element, now: Date): number {
  const start = instantOr(element, 'NotBefore', Number.NEGATIVE_INFINITY);
  const end = instantOr(element, 'NotOnOrAfter', Number.POSITIVE_INFINITY);
  if (start >= end) throw wrong('NotBefore');
  if (now.getTime() < start - skewMillis) throw new InvalidAssertionError('It is not valid yet.');
  if (now.getTime() >= end + skewMillis) throw new InvalidAssertionError('It has expired.');
  return end;
}

function checkPast(millis: number, now: Date, name: string): void {
  if (millis > now.getTime() + skewMillis) throw wrong(name);
}

function instant(element: Element, name: string): number {
  const value = attribute(element, name) ?? '';
  // SAML core section 1.3.3: UTC, and no time zone except Z.
  const millis = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(millis)) throw wrong(name);
  return millis;
}

function instantOr(element: Element, name: string, fallback: number): number {
  return attribute(element, name) === undefined ? fallback : instant(element, name);
}

function wrong(what: string): InvalidAssertionError {
  return new InvalidAssertionError(`${what} is missing or wrong.`);
}
