import type { Command } from 'commander';
import { credentialCommands } from './credentials.ts';
import { erase } from './erase.ts';
import { find } from './find.ts';
import { show } from './show.ts';
import { standingCommands } from './standing.ts';

export function memberCommands(): Command[] {
  return [find(), show(), ...standingCommands(), ...credentialCommands(), erase()];
}
