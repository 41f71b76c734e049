import { DOMParser, type Document, type Element, type Node } from '@xmldom/xmldom';
import { InvalidAssertionError } from '../invalid-assertion-error.ts';

/**
 * The XML that SAML needs: elements, attributes, text. Rejected as attack surface: declarations of any kind (document types,
 * entities, CDATA, comments), processing instructions, invalid characters, and deep or large documents.
 */

const maxDepth = 32;
const maxNodes = 1_000;
/** Opening and closing tags. The parser's time grows with the square of the unclosed ones. */
const maxTags = 1_000;

/** The XML declaration, without attributes that would change the reading. */
const declaration =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/i;
/** XML 1.0 section 2.2. */
const noCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const noReference = /&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)/;
/** XML 1.0 section 2.3: space, tab, line feed, carriage return. */
const space: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const numericReference = /&#(?:x([0-9A-Fa-f]+)|([0-9]+));/g;

/** Returns the root element. Throws InvalidAssertionError. */
export function parseXml(text: string): Element {
  const body = withoutSpaceAround(text.replace(declaration, ''));
  if (!body.startsWith('<')) throw malformed('XML');
  if (body.split('<', maxTags + 2).length > maxTags + 1) throw malformed('too deep or too large');
  // Well-formed text has "<!" and "<?" in declarations, comments and instructions only.
  if (/<[!?]/.test(body)) throw malformed('a declaration, comment or instruction');
  if (noCharacter.test(body) || noReference.test(body) || holdsNoCharacter(body))
    throw malformed('a character');
  const root = parse(body);
  checkNodes(root);
  return root;
}

export function childElements(element: Element): Element[] {
  return Array.from(element.childNodes).filter(isElementNode);
}

function isElementNode(node: Node): node is Element {
  return node.nodeType === 1;
}

export function isElement(element: Element, namespace: string, name: string): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

export function childrenCalled(element: Element, namespace: string, name: string): Element[] {
  return childElements(element).filter((child) => isElement(child, namespace, name));
}

/** Throws InvalidAssertionError unless there is exactly one child of this name. */
export function onlyChild(element: Element, namespace: string, name: string): Element {
  const [child, another] = childrenCalled(element, namespace, name);
  if (child === undefined || another !== undefined) throw malformed(name);
  return child;
}

/** The value of an attribute without a namespace. */
export function attribute(element: Element, name: string): string | undefined {
  return element.hasAttribute(name) ? element.getAttribute(name) : undefined;
}

/** The element's text. Throws InvalidAssertionError if it is empty or has other nodes. */
export function textOf(element: Element): string {
  const nodes = Array.from(element.childNodes);
  const text = nodes.map((node) => node.nodeValue ?? '').join('');
  if (text === '' || nodes.some((node) => node.nodeType !== 3)) throw malformed(element.localName);
  return text;
}

/** The element and all elements below it. */
export function allElements(element: Element): Element[] {
  return [element, ...childElements(element).flatMap(allElements)];
}

export function malformed(what: string): InvalidAssertionError {
  return new InvalidAssertionError(`It is malformed: ${what}.`);
}

/** Without a regular expression, whose time for runs of spaces would grow with the square of their length. */
function withoutSpaceAround(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.has(text.charCodeAt(start))) start += 1;
  while (end > start && space.has(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function parse(text: string): Element {
  let complaint: unknown;
  const parser = new DOMParser({
    locator: {},
    errorHandler: (_level: string, message: unknown) => {
      complaint ??= message;
    },
  });
  let document: Document | undefined;
  try {
    document = parser.parseFromString(text, 'text/xml');
  } catch (error) {
    complaint ??= error;
  }
  const root = document?.documentElement;
  // After a warning the parser would repair the document.
  if (complaint !== undefined || !root || document?.childNodes.length !== 1) throw malformed('XML');
  return root;
}

/** Without recursion, since an attacker may send a deep document. */
function checkNodes(root: Element): void {
  const waiting: [node: Node, depth: number][] = [[root, 1]];
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, depth] = next;
    seen += 1 + (isElementNode(node) ? node.attributes.length : 0);
    if (depth > maxDepth || seen > maxNodes) throw malformed('too deep or too large');
    if (node.nodeType !== 1 && node.nodeType !== 3)
      throw malformed('a node that is neither element nor text');
    for (const child of Array.from(node.childNodes ?? [])) waiting.push([child, depth + 1]);
  }
}

function holdsNoCharacter(text: string): boolean {
  return Array.from(text.matchAll(numericReference)).some(([, hex, decimal]) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10ffff || noCharacter.test(String.fromCodePoint(code));
  });
}
