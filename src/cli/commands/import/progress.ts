import type { WriteStream } from 'node:tty';

export interface Progress {
  show(step: string, done: number, of: number): void;
  note(line: string): void;
  /** Ends the line, so that later output begins on a line of its own. */
  end(): void;
}

const width = 30;

/** A bar on a terminal. Elsewhere, for example in a log, a line for each tenth of a step. */
export function progressTo(stream: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean }): Progress {
  let shown = '';
  const end = () => {
    if (stream.isTTY === true && shown !== '') stream.write('\n');
    shown = '';
  };
  return {
    show(step, done, of) {
      const part = of === 0 ? 1 : Math.min(done / of, 1);
      const percent = Math.floor(part * 100);
      const filled = Math.floor(part * width);
      const text =
        stream.isTTY === true
          ? `${step.padEnd(10)} [${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${percent} %`
          : `${step} ${Math.floor(percent / 10) * 10} %`;
      if (text === shown) return;
      stream.write(stream.isTTY === true ? `\r${text}` : `${text}\n`);
      shown = text;
    },
    note(line) {
      end();
      stream.write(`${line}\n`);
    },
    end,
  };
}
