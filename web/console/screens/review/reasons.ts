import { formatMoney } from '../../../design/format/money.ts';
import type { WaitingReason, WaitingTransfer } from '../../operations.ts';
import { boundOf } from '../transfer/bounds.ts';

const answers: Readonly<Record<string, string>> = {
  SILENT: ', as the hook gave no answer',
  NOT_ASKED: ', without asking the hook',
};

type Explained = Pick<
  WaitingTransfer,
  'reasons' | 'heldFor' | 'approvedBy' | 'approvalsNeeded' | 'isWithCore' | 'currencyCode'
>;

/** The reasons why a transfer waits, in words. */
export function reasonsOf(transfer: Explained): string[] {
  const { reasons, heldFor, approvedBy, approvalsNeeded } = transfer;
  const words = reasons.map((reason) => wordsOf(reason, transfer));
  const isApproved = heldFor === 'REVIEW' && approvedBy.length >= approvalsNeeded;
  return isApproved ? ['Approved: it waits for its processing time', ...words] : words;
}

function wordsOf(reason: WaitingReason, { currencyCode, isWithCore }: Explained): string {
  const money = (amount: string) => formatMoney(amount, currencyCode);
  switch (reason.kind) {
    case 'SCREENING': {
      const { answer, reference } = reason;
      return `Screening: hold${answers[answer] ?? ''}${reference === null ? '' : `, ${reference}`}`;
    }
    case 'AMOUNT':
      return `Above ${money(reason.threshold)}`;
    case 'TOTAL': {
      const { limit, threshold, used } = reason;
      return `Total ${boundOf(limit)}, above ${money(threshold)} with ${money(used)} before`;
    }
    case 'CUT_OFF':
      return reason.cutOff === null ? 'Cut-off' : `After the cut-off at ${reason.cutOff.slice(0, 5)}`;
    case 'CORE':
      return isWithCore ? 'The core has it' : 'The core has not fetched it';
    case 'NOT_KNOWN':
      return 'Review: the rules of then are not certain';
  }
}
