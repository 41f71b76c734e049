import { Command } from 'commander';
import {
  type AuditRetention,
  changeAuditRetention,
  leastRetention,
  readAuditRetention,
} from '../../../events/index.ts';
import { wholeNumber } from '../../arguments.ts';
import { jsonOption, type OutputOptions, sayOne } from '../../output.ts';
import { onAudit, type ScopeOptions } from './scope.ts';

interface Options extends ScopeOptions, OutputOptions {
  readonly accessDays?: number;
  readonly changesDays?: number;
}

const longest = 36_600;

export function retention(): Command {
  const days = (least: number) =>
    wholeNumber(least, longest, `Must be a whole number of days from ${least} to ${longest}.`);
  const command = new Command('retention')
    .description('show or change how long the audit is kept')
    .option('--access-days <days>', 'sign-ins, refusals and reads', days(leastRetention.accessDays))
    .option('--changes-days <days>', 'all other acts', days(leastRetention.changesDays))
    .addOption(jsonOption());
  return onAudit(command, async ({ context, institutionId, name, origin }, options: Options) => {
    const { database, auditRetention: settings } = context;
    const { accessDays, changesDays } = options;
    const change: Partial<AuditRetention> = {
      ...(accessDays !== undefined && { accessDays }),
      ...(changesDays !== undefined && { changesDays }),
    };
    const kept =
      Object.keys(change).length === 0
        ? await readAuditRetention(database, institutionId, settings)
        : await changeAuditRetention(context, institutionId, { settings, change }, origin);
    const facts = [
      ['institution', name],
      ['sign-ins, refusals and reads', `${kept.accessDays} days`],
      ['changes', `${kept.changesDays} days`],
    ] as const;
    sayOne({ document: { institution: name, ...kept }, facts }, options);
  });
}
