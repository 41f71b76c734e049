import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { CommandError } from './command.ts';

export interface ConfirmOptions {
  readonly yes?: true;
}

export function yesOption(): Option {
  return new Option('--yes', 'do it without a question; a program must say so');
}

/**
 * Asks the person at the terminal before an act that may do harm. `effect` is a sentence about what will happen. Throws CommandError
 * unless the person agrees, and without a terminal.
 */
export async function confirm(effect: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes) return;
  const { stdin: input, stderr: output } = process;
  if (!input.isTTY || !output.isTTY) {
    throw new CommandError(
      `${effect} Nothing was changed: there is no terminal to ask at. Confirm with --yes.`,
    );
  }
  const terminal = createInterface({ input, output });
  try {
    const answer = await terminal.question(`${effect}\nType yes to go on: `);
    if (answer.trim().toLowerCase() !== 'yes') throw new CommandError('Nothing was changed.');
  } finally {
    terminal.close();
  }
}
