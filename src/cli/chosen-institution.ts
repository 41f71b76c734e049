import type { AppContext } from '../app/context.ts';
import type { Place } from '../cell-directory/index.ts';
import {
  findCell,
  findInstitutionByCode,
  type Institution,
  listInstitutions,
} from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import { CommandError } from './command-error.ts';

export interface ChooseOptions {
  /** For commands that only read, and may read a copy that a move has left here. */
  readonly orCopy?: boolean;
}

/** The institution with this code, or without a code the only one. Throws CommandError unless this cell serves it. */
export async function chooseInstitution(
  context: AppContext,
  code: string | undefined,
  { orCopy = false }: ChooseOptions = {},
): Promise<Institution> {
  const chosen = code ?? (await onlyCode(context));
  // The directory first: a move lets go here before it changes the directory.
  const place = await placeOf(context, chosen);
  const institution = await context.database.directory((db) => findInstitutionByCode(db, chosen));
  if (institution === undefined)
    throw new CommandError(
      place === undefined
        ? `The institution "${chosen}" does not exist.`
        : `The institution "${chosen}" is not in this cell. ${servedBy(place)}`,
    );
  const hasRows = institution.served !== 'arriving' && institution.served !== 'gone';
  if (!(orCopy && hasRows)) await requireHere(context, institution, place);
  return institution;
}

async function onlyCode(context: AppContext): Promise<string> {
  const all = await context.database.directory(listInstitutions);
  const [only, another] = all;
  if (only === undefined) throw new CommandError('There is no institution yet: import an extract first.');
  if (another !== undefined) {
    throw new CommandError(
      `Choose one with --institution: ${all.map((institution) => institution.code).join(', ')}.`,
    );
  }
  return only.code;
}

/** Undefined without a directory, and while it is away: this cell goes on by itself then, as the service does. */
async function placeOf({ directory }: AppContext, code: string): Promise<Place | undefined> {
  return directory?.findCode(code).catch((error) => {
    if (error instanceof Problem && error.code === 'database_unavailable') return undefined;
    throw error;
  });
}

async function requireHere(
  { database }: AppContext,
  { code, served, otherCell, moves }: Institution,
  place: Place | undefined,
): Promise<void> {
  if (served === 'leaving')
    throw new CommandError(
      `"${code}" is closed on its way to the cell "${otherCell}". Run the command there after the move.`,
    );
  if (served === 'arriving')
    throw new CommandError(
      `"${code}" is on its way here from the cell "${otherCell}". Repeat the command after the move.`,
    );
  const own = await database.directory(findCell);
  const isPlacedElsewhere = place !== undefined && place.cell !== own?.name;
  if (served !== 'here')
    throw new CommandError(
      `"${code}" has left this cell. ${isPlacedElsewhere ? servedBy(place) : `It went to the cell "${otherCell}". Run the command there.`}`,
    );
  // Otherwise one of the two is wrong, and the service goes on here as well (docs/cells.md).
  if (isPlacedElsewhere && place.moves > moves)
    throw new CommandError(
      `This database is older than the move of "${code}". ${servedBy(place)} Run "sharedraft restored" here first.`,
    );
}

function servedBy({ cell, address }: Place): string {
  return `The cell "${cell}" at ${address} serves it, as the directory says. Run the command there.`;
}
