import { Command } from 'commander';
import { run } from './run.ts';
import { findings, runs } from './runs.ts';

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description('Recompute the books, and show what runs of it have found')
    .addCommand(run(), { isDefault: true })
    .addCommand(runs())
    .addCommand(findings());
}
