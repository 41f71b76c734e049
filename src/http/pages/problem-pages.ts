import { readFileSync } from 'node:fs';
import type { ProblemCode } from '../../shared/problem.ts';

export interface ProblemPage {
  readonly markdown: string;
  /** The document that the page shows; openapi.json shows the same. */
  readonly example: object;
}

const folder = new URL('../../../docs/problems/', import.meta.url);

/** The page about a code, from docs/problems. */
export function readProblemPage(code: ProblemCode): ProblemPage {
  const markdown = readFileSync(new URL(`${code}.md`, folder), 'utf8');
  const example = /^```json\n(.*?)^```/ms.exec(markdown)?.[1];
  if (example === undefined) throw new Error(`docs/problems/${code}.md has no example`);
  return { markdown, example: JSON.parse(example) };
}
