import { appendAudit, type CommandOrigin, wholeService } from '../events/index.ts';
import { type Cell, findCell, listAllInstitutions, storeCell } from '../institutions/index.ts';
import type { Clock } from '../storage/index.ts';
import { refuse } from './check.ts';
import { giveKeys } from './key-numbers.ts';
import { inTransaction, of, run, type Side } from './side.ts';

export type WantedCell = Pick<Cell, 'name' | 'firstNumber' | 'lastNumber'>;

interface SetCellDeps {
  readonly clock: Clock;
  readonly origin: CommandOrigin;
  /** Enters the cell in the directory. It runs before the commit: a cell that the directory refuses is not set. */
  readonly register?: ((cell: WantedCell) => Promise<void>) | undefined;
}

/**
 * Makes the database a cell, or changes its name or numbers. New institutions get numbers of the cell. Those that were created here must
 * have such numbers, and those that came from another cell must not. Throws MoveRefusedError.
 */
export async function setCell(
  side: Side,
  wanted: WantedCell,
  { clock, origin, register }: SetCellDeps,
): Promise<void> {
  const { name, firstNumber, lastNumber } = wanted;
  await inTransaction(side.db, async () => {
    // No institution is created meanwhile.
    await run(side.db, 'lock table public."institutions" in share mode');
    const before = await findCell(side.db);
    const isOwn = (id: number) =>
      before === undefined || (before.firstNumber <= id && id <= before.lastNumber);
    const institutions = await listAllInstitutions(side.db);
    for (const { institutionId: id, code } of institutions) {
      const isWithin = firstNumber <= id && id <= lastNumber;
      if (isOwn(id) && !isWithin)
        refuse(
          `"${code}" was created here with the number ${id}, which is not within ${firstNumber}-${lastNumber}.`,
        );
      if (!isOwn(id) && isWithin)
        refuse(
          `"${code}" came from another cell with the number ${id}, so this cell cannot have ${firstNumber}-${lastNumber}.`,
        );
    }
    const used = institutions.flatMap(({ institutionId: id }) => (isOwn(id) ? [id as number] : []));
    const next = Math.max(firstNumber - 1, ...used) + 1;
    // A number beyond the last one is refused by the sequence.
    await run(
      side.db,
      `alter sequence institutions_institution_id_seq minvalue 1 maxvalue ${lastNumber} start ${firstNumber} restart ${Math.min(next, lastNumber)}`,
    );
    if (next > lastNumber) await run(side.db, `select nextval('institutions_institution_id_seq')`);
    const beyond = await giveKeys(side, wanted);
    if (beyond.length > 0)
      refuse(
        `This database has given out keys of higher numbers (${beyond.join(', ')}). Choose numbers above them.`,
      );
    await storeCell(side.db, { ...wanted, setAt: clock() });
    const kept = before && { name: before.name, numbers: `${before.firstNumber}-${before.lastNumber}` };
    await appendAudit(
      of(side, wholeService),
      {
        ...{ action: 'cell.changed', outcome: 'succeeded', subject: name, origin },
        ...{ before: kept, after: { name, numbers: `${firstNumber}-${lastNumber}` } },
      },
      clock(),
    );
    await register?.(wanted);
  });
}
