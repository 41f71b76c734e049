import { addressOf } from '../../common/router.ts';
import type { Column } from '../../common/table.ts';
import { Amount, Badge } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { momentColumn } from '../moment.ts';
import type { FoundTransfer } from '../operations.ts';

const kinds = { COMPLETED: 'good', PENDING: 'warn', FAILED: 'bad' } as const;

export function Status({ transfer }: { transfer: Pick<FoundTransfer, 'status'> }) {
  return html`<${Badge} kind=${kinds[transfer.status]}>${wordOf(transfer.status)}<//>`;
}

export const transferColumns: readonly Column<FoundTransfer>[] = [
  { ...momentColumn<FoundTransfer>('Ordered', ({ createdAt }) => createdAt), order: 'time' },
  {
    title: 'Transfer',
    text: ({ id }) => id,
    cell: ({ id }) => html`<a href=${addressOf('transfers', id)}>${id}</a>`,
  },
  { title: 'Type', text: ({ transferType }) => wordOf(transferType) },
  {
    title: 'From',
    text: ({ fromAccountId }) => fromAccountId,
    cell: ({ fromAccountId: id }) => html`<a href=${addressOf('accounts', id)}>${id}</a>`,
  },
  {
    title: 'To',
    text: ({ toAccountId }) => toAccountId,
    cell: ({ toAccountId: id }) => html`<a href=${addressOf('accounts', id)}>${id}</a>`,
  },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: (row) => html`<${Amount} value=${row} />`,
    isNumeric: true,
    order: 'amount',
  },
  {
    title: 'Status',
    text: ({ status, failureCode }) => `${status} ${failureCode ?? ''}`.trim(),
    cell: (row) => html`<${Status} transfer=${row} /> <span class="quiet">${wordOf(row.failureCode)}</span>`,
  },
];
