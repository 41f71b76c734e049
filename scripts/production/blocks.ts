/* The shell blocks of docs/production.md, with the few words that stand for something of the reader's. */

/** A block of the page that is meant for a shell. */
export interface ShellBlock {
  readonly heading: string;
  /** Line of its first command in the page. */
  readonly line: number;
  readonly text: string;
}

/** Words of the page, and their stand-ins on a machine that is both `db.example` and `bank.example`. */
const standIns: readonly (readonly [word: string, standIn: string])[] = [
  ['https://git.example/sharedraft', 'file:///srv/sharedraft.git'],
  ['scp root@db.example:', 'cp root@db.example:'],
  ['root@db.example:', ''],
];

/** Sections that replace steps of the walk, or need a service that no test has. */
const others = new Set(['Containers', 'Kubernetes']);

export function blocksOf(page: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let heading = '';
  let block: { line: number; lines: string[] } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    if (block === undefined) {
      heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
      if (line === '```sh') block = { line: index + 2, lines: [] };
    } else if (line === '```') {
      if (!others.has(heading)) blocks.push({ heading, line: block.line, text: replaced(block.lines) });
      block = undefined;
    } else block.lines.push(line);
  }
  return blocks;
}

function replaced(lines: readonly string[]): string {
  return standIns.reduce((text, [word, standIn]) => text.replaceAll(word, standIn), lines.join('\n'));
}
