import { Command } from 'commander';
import { readEnvironment } from '../../app/config.ts';
import { examine } from '../../app/doctor/examine.ts';
import type { Finding } from '../../operators/index.ts';
import { say } from '../command.ts';
import { jsonOption, type OutputOptions, sayEach } from '../output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'examine configuration, database and work; changes nothing (exit code 1 if there is a problem)',
    )
    .addOption(jsonOption())
    .action(async (options: OutputOptions) => {
      const counts = { ok: 0, warning: 0, problem: 0 };
      const counted = async function* () {
        for await (const finding of examine(await readEnvironment())) {
          counts[finding.verdict] += 1;
          yield finding;
        }
      };
      await sayEach(counted(), { text: describe, document: (row) => ({ ...row }) }, options);
      if (!options.json) say(`${counts.problem} problems, ${counts.warning} warnings, ${counts.ok} ok.`);
      if (counts.problem > 0) process.exitCode = 1;
    });
}

function describe({ check, verdict, detail, cure }: Finding): string {
  const line = `${verdict.padEnd(7)}  ${check}: ${detail}`;
  return cure === null || verdict === 'ok' ? line : `${line}\n         -> ${cure}`;
}
