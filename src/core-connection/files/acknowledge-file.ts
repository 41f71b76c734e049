import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { decideInstruction, type TransferDesk } from '../../transfers/index.ts';
import { saveHeard } from '../standing/connection-queries.ts';
import { readAcknowledgement } from './instruction-file.ts';

export interface Acknowledged {
  readonly accepted: number;
  readonly rejected: number;
  /** Reported before, with the same outcome. */
  readonly already: number;
  /** Lines that do not count: no such instruction, or it has the other outcome. */
  readonly refused: readonly { readonly line: number; readonly transferId: string; readonly why: string }[];
}

const atOnce = 256;

/**
 * Applies the outcomes of a file. The whole file is read and checked first; then each line counts by itself, once, so that a
 * file can be given again after any failure. Throws InstructionFileError.
 */
export async function acknowledgeFile(
  desk: TransferDesk,
  institutionId: InstitutionId,
  { file, origin }: { readonly file: string; readonly origin: CommandOrigin },
): Promise<Acknowledged> {
  const lines = await readAcknowledgement(file);
  const counts = { accepted: 0, rejected: 0, already: 0 };
  const refused: Acknowledged['refused'][number][] = [];
  for (let from = 0; from < lines.length; from += atOnce) {
    const some = lines.slice(from, from + atOnce);
    const outcomes = await Promise.all(
      some.map(({ transferId, outcome }) =>
        decideInstruction(desk, institutionId, { transferId, outcome, clientId: null, origin }),
      ),
    );
    for (const [place, decided] of outcomes.entries()) {
      const { line, transferId, outcome } = some[place] as (typeof some)[number];
      if (decided.kind === 'changed') counts[outcome.kind === 'ACCEPTED' ? 'accepted' : 'rejected'] += 1;
      else if (decided.kind === 'unchanged' && decided.why === 'decided_so') counts.already += 1;
      else {
        const why =
          decided.kind === 'unknown' ? 'no such instruction' : 'it has the other outcome, or was withdrawn';
        refused.push({ line, transferId, why });
      }
    }
  }
  const at = desk.deps.clock();
  await desk.database.transaction(institutionId, async (tx) => {
    await saveHeard(tx, at, 'files');
    const after = { ...counts, refused: refused.length };
    await appendAudit(tx, { action: 'core.acknowledged', outcome: 'succeeded', origin, after }, at);
  });
  return { ...counts, refused };
}
