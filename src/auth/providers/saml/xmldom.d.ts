/**
 * The used part of @xmldom/xmldom 0.8 (a path in tsconfig.json). The package's own types add the browser's library to every file,
 * whose CryptoKey and fetch differ from Node's.
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
