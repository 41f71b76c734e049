/**
 * What is used of @xmldom/xmldom 0.8 (tsconfig.json leads there). Its own types bring the browser's whole library into
 * every file, whose CryptoKey and fetch are not Node's.
 */
export interface Node {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<Node>;
}

export interface Attribute {
  readonly localName: string;
  readonly value: string;
}

export interface Element extends Node {
  readonly namespaceURI: string | null;
  readonly localName: string;
  readonly attributes: ArrayLike<Attribute>;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string;
}

export interface Document extends Node {
  readonly documentElement: Element | null;
}

export class DOMParser {
  constructor(options: { locator: object; errorHandler: (level: string, message: unknown) => void });
  /** Undefined for a text that is empty. */
  parseFromString(text: string, mediaType: string): Document | undefined;
}
