import { Command } from 'commander';
import { anchor } from './anchor.ts';
import { exportEntries } from './export.ts';
import { retention } from './retention.ts';
import { search } from './search.ts';
import { verify } from './verify.ts';

export function auditCommand(): Command {
  return new Command('audit')
    .description('The audit trail: search, verify, export')
    .addCommand(search(), { isDefault: true })
    .addCommand(verify())
    .addCommand(exportEntries())
    .addCommand(anchor())
    .addCommand(retention());
}
