import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { formatMinor } from '../../ledger/index.ts';
import { CsvError, readCsv } from '../../shared/text/csv.ts';
import type { CoreOutcome, DeliveredInstruction } from '../../transfers/index.ts';

/*
 * Files for a core that takes no requests: CSV in UTF-8 with a header. The last line is `TRAILER`, the number of lines between
 * them and the SHA-256 of every byte before it, so that a file that was cut is not taken.
 */

const instructionColumns = [
  'id',
  'sequence',
  'type',
  'from_account_id',
  'to_account_id',
  'amount',
  'currency',
  'business_date',
  'ordered_at',
  'reverses',
  'memo',
];
const outcomeColumns = ['id', 'outcome', 'core_reference', 'code', 'reason'];

/** The content of an export file. */
export function writeInstructionFile(instructions: readonly DeliveredInstruction[]): string {
  const lines = instructions.map((one) => [
    one.id,
    String(one.sequence),
    one.transferType ?? '',
    one.fromAccountId,
    one.toAccountId,
    formatMinor(one.amountMinor, one.currencyCode),
    one.currencyCode,
    one.businessDate,
    one.orderedAt.toISOString(),
    one.reverses ?? '',
    one.memo ?? '',
  ]);
  const text = [instructionColumns, ...lines].map((line) => `${line.map(quoted).join(',')}\n`).join('');
  return `${text}TRAILER,${lines.length},${createHash('sha256').update(text).digest('hex')}\n`;
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A line of a core's acknowledgement. */
export interface AcknowledgedLine {
  readonly line: number;
  readonly transferId: string;
  readonly outcome: CoreOutcome;
}

/** The file is not an acknowledgement, or not a whole one. Nothing of it counts. */
export class InstructionFileError extends Error {
  override readonly name = 'InstructionFileError';
}

const form = {
  id: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
  reference: /^[!-~]{0,64}$/,
  code: /^[A-Za-z0-9._-]{1,64}$/,
};

/** Reads every line before one counts. Throws InstructionFileError with the line and what it expects there. */
export async function readAcknowledgement(file: string): Promise<AcknowledgedLine[]> {
  const fail = (line: number, expected: string) =>
    new InstructionFileError(`${file}:${line}: expected ${expected}. Nothing was changed.`);
  const lines: AcknowledgedLine[] = [];
  let header: readonly string[] | undefined;
  let trailer: { readonly line: number; readonly values: readonly string[] } | undefined;
  try {
    for await (const records of readCsv(file)) {
      for (const { line, values } of records) {
        if (trailer !== undefined) throw fail(line, 'nothing after TRAILER');
        if (header === undefined) {
          header = values;
          if (values.join() !== outcomeColumns.join())
            throw fail(line, `the columns ${outcomeColumns.join()}`);
        } else if (values[0] === 'TRAILER') trailer = { line, values };
        else lines.push(readLine(line, values, fail));
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw fail(error.line, error.expected);
    throw error;
  }
  if (trailer === undefined) throw fail(lines.length + 2, 'TRAILER as the last line: the file is cut');
  const { line, values } = trailer;
  if (values[1] !== String(lines.length)) throw fail(line, `${lines.length} lines in TRAILER`);
  if (values[2] !== (await checksumBefore(file, values.join())))
    throw fail(line, 'the SHA-256 of the lines before');
  return lines;
}

function readLine(
  line: number,
  values: readonly string[],
  fail: (line: number, expected: string) => Error,
): AcknowledgedLine {
  const [transferId = '', outcome, coreReference = '', code = '', reason = ''] = values;
  if (values.length !== outcomeColumns.length) throw fail(line, `${outcomeColumns.length} values`);
  if (!form.id.test(transferId)) throw fail(line, 'the id of an instruction');
  if (outcome === 'ACCEPTED') {
    if (!form.reference.test(coreReference))
      throw fail(line, 'a core_reference of up to 64 visible characters');
    return { line, transferId, outcome: { kind: 'ACCEPTED', coreReference: coreReference || null } };
  }
  if (outcome !== 'REJECTED') throw fail(line, 'ACCEPTED or REJECTED');
  if (!form.code.test(code))
    throw fail(line, 'a code of up to 64 letters, digits, dots, dashes or underscores');
  if (reason.length > 140) throw fail(line, 'a reason of up to 140 characters');
  return { line, transferId, outcome: { kind: 'REJECTED', code, reason: reason || null } };
}

/** The SHA-256 of a file without its last line. */
async function checksumBefore(file: string, lastLine: string): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of createReadStream(file)) blocks.push(block as Buffer);
  const bytes = Buffer.concat(blocks);
  const end = bytes.lastIndexOf(lastLine);
  return createHash('sha256').update(bytes.subarray(0, end)).digest('hex');
}
