import { Command, Option } from 'commander';
import { confirmMove, type MoveStep, moveInstitution, undoMove } from '../../../cells/index.ts';
import { withCell } from '../../cell-sides.ts';
import { say } from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';

interface Options extends ConfirmOptions {
  readonly to: string;
  readonly undo?: true;
  readonly confirm?: true;
}

/** A line of the output begins with it, before the step does. */
export const stepSentences: Readonly<Record<MoveStep, string>> = {
  reconcile_here: 'Running reconcile here.',
  fence: 'Building the fence around the institution, which is still open.',
  publish: 'Publishing its rows.',
  arrive: 'Announcing it to the other cell.',
  copy: 'Copying.',
  close: 'Closing the institution here.',
  follow: 'Waiting until the other cell has the last changes.',
  compare: 'Comparing every row.',
  let_go: 'Letting go.',
  switch: 'Switching the directory.',
  open: 'Opening the institution at the other cell.',
  tidy: 'Tidying up.',
  reconcile_there: 'Running reconcile at the other cell.',
};

export function move(): Command {
  return new Command('move')
    .description(
      'move an institution to another cell while both serve; may be repeated after an interruption at any point',
    )
    .argument('<code>', 'code of the institution')
    .requiredOption('--to <cell>', 'name of the other cell, whose database CELL_DATABASE_URL names')
    .addOption(
      new Option('--undo', 'undo a move that has not opened the institution there').conflicts('confirm'),
    )
    .addOption(new Option('--confirm', 'delete the copy that this cell has kept'))
    .addOption(yesOption())
    .action(async (code: string, options: Options) => {
      const { to } = options;
      if (options.confirm)
        await confirm(
          `The copy of "${code}" in this cell is deleted. Only the cell "${to}" has its rows then.`,
          options,
        );
      await withCell(async ({ own, other, ...run }) => {
        let last = '';
        const onStep = async (step: MoveStep, detail?: string) => {
          const line = `${stepSentences[step]}${detail === undefined ? '' : ` ${detail}.`}`;
          if (line !== last) say(line);
          last = line;
        };
        const deps = { source: own, target: await other(), onStep, ...run };
        if (options.undo) {
          await undoMove(deps, code, to);
          say(`"${code}" is served here, as before.`);
        } else if (options.confirm) {
          await confirmMove(deps, code, to);
          say(`The copy of "${code}" is deleted.`);
        } else {
          const { pauseMillis, rows, findings } = await moveInstitution(deps, code, to);
          say(
            pauseMillis === undefined
              ? `"${code}" is open at the cell "${to}".`
              : `"${code}" is open at the cell "${to}": ${rows} rows, closed for ${(pauseMillis / 1000).toFixed(1)} s. Send its requests there. The copy here is kept until --confirm.`,
          );
          for (const { check, row, detail } of findings)
            say(`reconcile at "${to}": ${check} ${row}: ${detail}`);
          if (findings.length > 0) process.exitCode = 1;
        }
      });
    });
}
