import { createHash, verify } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { InvalidAssertionError } from '../invalid-assertion-error.ts';
import type { VerificationKey } from '../keys.ts';
import { allElements, attribute, childElements, isElement, malformed, onlyChild, parseXml } from './xml.ts';

export const samlNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';
const exclusiveNamespace = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const exclusive = exclusiveNamespace;
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** The algorithms of XML Signature 1.1 that are still secure: none symmetric, none with SHA-1. */
const signatureMethods: Readonly<Record<string, { readonly keyType: 'rsa' | 'ec'; readonly hash: string }>> =
  {
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { keyType: 'rsa', hash: 'sha256' },
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': { keyType: 'rsa', hash: 'sha384' },
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': { keyType: 'rsa', hash: 'sha512' },
    'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': { keyType: 'ec', hash: 'sha256' },
  };
const digestMethods: Readonly<Record<string, string>> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
};

/** A subset of NCName that covers the ids of identity providers. */
const idGrammar = /^[A-Za-z_][A-Za-z0-9._-]{0,254}$/;

/**
 * Reads the unverified root Assertion of a document (RFC 7522 section 2.1) and its ID. The document's shape prevents signature wrapping: one
 * Assertion, the root; one Signature, its child; and no second element with its ID. Throws InvalidAssertionError.
 */
export function loneAssertion(xml: string): { readonly root: Element; readonly id: string } {
  const root = parseXml(xml);
  if (!isElement(root, samlNamespace, 'Assertion')) throw malformed('it is not a SAML 2.0 Assertion');
  const id = attribute(root, 'ID');
  if (id === undefined || !idGrammar.test(id)) throw malformed('ID');
  const elements = allElements(root);
  const called = (name: string) => elements.filter((element) => element.localName === name).length;
  if (called('Assertion') !== 1) throw malformed('more than one Assertion');
  const sameId = elements
    .flatMap((element) => Array.from(element.attributes))
    .filter(({ value }) => value === id);
  if (sameId.filter(({ localName }) => localName.toLowerCase() === 'id').length !== 1) throw malformed('ID');
  return { root, id };
}

/**
 * Verifies the signature by one of these keys, and returns the assertion parsed again from the signed bytes, so that nothing unsigned
 * can be read. KeyInfo is ignored. Throws InvalidAssertionError.
 */
export function signedAssertion(xml: string, keys: readonly VerificationKey[]): Element {
  const { root, id } = loneAssertion(xml);
  const signatures = allElements(root).filter((element) => element.localName === 'Signature');
  if (signatures.length !== 1) throw new InvalidAssertionError('It must carry one signature.');
  const signature = onlyChild(root, signatureNamespace, 'Signature');
  checkShape(signature, id);

  const verifier = new SignedXml({ publicCert: '-' });
  verifier.SignatureAlgorithms = Object.fromEntries(
    Object.keys(signatureMethods).map((name) => [name, verifyWith(keys, name)]),
  );
  verifier.HashAlgorithms = Object.fromEntries(
    Object.keys(digestMethods).map((name) => [name, digestWith(name)]),
  );
  const { [exclusive]: canonicalize, [enveloped]: envelop } = verifier.CanonicalizationAlgorithms;
  if (canonicalize === undefined || envelop === undefined)
    throw new Error('auth: xml-crypto has no exc-c14n');
  verifier.CanonicalizationAlgorithms = { [exclusive]: canonicalize, [enveloped]: envelop };
  try {
    verifier.loadSignature(signature);
    if (!verifier.checkSignature(xml)) throw wrongSignature();
  } catch (error) {
    throw error instanceof InvalidAssertionError ? error : wrongSignature(error);
  }
  const [signed, another] = verifier.getSignedReferences();
  if (signed === undefined || another !== undefined) throw wrongSignature();
  const verified = loneAssertion(signed);
  if (verified.id !== id) throw wrongSignature();
  return verified.root;
}

/** SAML core section 5.4: one reference, to the assertion, with exactly two transforms. */
function checkShape(signature: Element, id: string): void {
  const hasKeyInfo = childElements(signature).length > 2;
  const [signedInfo] = partsOf(signature, [
    'SignedInfo',
    'SignatureValue',
    ...(hasKeyInfo ? ['KeyInfo'] : []),
  ]);
  const [canonicalization, method, reference] = partsOf(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ]);
  checkAlgorithm(canonicalization, [exclusive]);
  checkAlgorithm(method, Object.keys(signatureMethods));
  if (attribute(reference, 'URI') !== `#${id}`) throw malformed('Reference');
  const [transforms, digestMethod] = partsOf(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  checkAlgorithm(digestMethod, Object.keys(digestMethods));
  const [first, last] = partsOf(transforms, ['Transform', 'Transform']);
  checkAlgorithm(first, [enveloped]);
  checkAlgorithm(last, [exclusive]);
}

/** The element's children, which must be exactly these elements of XML Signature, in this order. */
function partsOf<const Names extends readonly string[]>(
  element: Element,
  names: Names,
): { [Name in keyof Names]: Element } {
  const parts = childElements(element);
  const fit = parts.every((part, n) => isElement(part, signatureNamespace, names[n] ?? ''));
  if (parts.length !== names.length || !fit) throw malformed(element.localName);
  return parts as { [Name in keyof Names]: Element };
}

function checkAlgorithm(element: Element, allowed: readonly string[]): void {
  const algorithm = attribute(element, 'Algorithm') ?? '';
  if (!allowed.includes(algorithm)) {
    throw new InvalidAssertionError(`Its ${element.localName} is not one that is accepted.`);
  }
  const inside = childElements(element);
  const prefixes = inside.filter((child) => isElement(child, exclusiveNamespace, 'InclusiveNamespaces'));
  const most = algorithm === exclusive ? 1 : 0;
  if (inside.length !== prefixes.length || inside.length > most) throw malformed(element.localName);
}

/** Tries the provider's keys of the method's type. The key argument of xml-crypto is ignored. */
function verifyWith(keys: readonly VerificationKey[], name: string) {
  return class {
    getAlgorithmName = () => name;
    getSignature = (): never => {
      throw new Error('auth: assertions are not signed here');
    };
    verifySignature = (material: unknown, _key: unknown, value: unknown): boolean => {
      const method = signatureMethods[name];
      const signature = Buffer.from(String(value), 'base64');
      const fits = ({ publicKey }: VerificationKey) => publicKey.asymmetricKeyType === method?.keyType;
      return keys.filter(fits).some(({ publicKey }) =>
        // RFC 9231 section 2.3.6: an ECDSA signature is the concatenation of r and s.
        verify(
          method?.hash ?? '',
          Buffer.from(String(material)),
          { key: publicKey, dsaEncoding: 'ieee-p1363' },
          signature,
        ),
      );
    };
  };
}

function digestWith(name: string) {
  return class {
    getAlgorithmName = () => name;
    getHash = (xml: string): string =>
      createHash(digestMethods[name] ?? '')
        .update(xml)
        .digest('base64');
  };
}

function wrongSignature(cause?: unknown): InvalidAssertionError {
  return new InvalidAssertionError('The signature is not by a key that the provider registered.', { cause });
}
