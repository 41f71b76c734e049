import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf } from '../../common/router.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge, Button } from '../../design/components.ts';
import { type Children, html } from '../../design/html.ts';
import { type ChangedValue, changedValues } from '../changed-values.ts';
import { wordOf } from '../format.ts';
import { Moment } from '../moment.ts';
import type { AuditEntry } from '../operations.ts';
import { may } from '../session.ts';

export function doerOf({ operator, userId, clientId }: AuditEntry): string {
  return operator ?? userId ?? clientId ?? 'the service';
}

/** The screens of subjects, by the action. */
const screens: readonly (readonly [action: RegExp, screen: string])[] = [
  [/^transfer\.(?!rules_)/, 'transfers'],
  [/^account\./, 'accounts'],
  [/^person\./, 'members'],
  [/^webhook\.(?!deleted$)/, 'webhooks'],
  [/^core\.(?:break_|adjustment_)/, 'breaks'],
];
const aboutMembers: readonly string[] = ['transfers', 'accounts', 'members'];

/** The id of the object of the act, with a link to its screen if it has one that the operator may open. */
export function Subject({ entry: { action, reason, subject } }: { entry: AuditEntry }) {
  if (!subject) return null;
  // A reading of one member's transfers may name an account.
  const isAccount = action === 'person.read' && reason === 'transfers';
  const screen = isAccount ? 'accounts' : screens.find(([actions]) => actions.test(action))?.[1];
  const mayOpen = screen !== undefined && (!aboutMembers.includes(screen) || may('members:read'));
  return mayOpen ? html`<a href=${addressOf(screen, subject)}>${subject}</a>` : html`${subject}`;
}

/** The members of an entry that only its details and the file have. */
export const detailsOfFile: readonly {
  readonly title: string;
  readonly text: (entry: AuditEntry) => string;
}[] = [
  { title: 'Times', text: ({ times }) => String(times) },
  { title: 'Request', text: ({ transactionId }) => transactionId },
  { title: 'Client', text: ({ clientId }) => clientId ?? '' },
  { title: 'User', text: ({ userId }) => userId ?? '' },
  { title: 'Address', text: ({ address }) => address ?? '' },
  { title: 'Host', text: ({ host }) => host ?? '' },
  { title: 'Sudo user', text: ({ sudoUser }) => sudoUser ?? '' },
  { title: 'Operator id', text: ({ operatorId }) => operatorId ?? '' },
  { title: 'Break glass', text: ({ breakGlass = false }) => (breakGlass ? 'yes' : '') },
  { title: 'Hash of the name', text: ({ nameHash }) => nameHash ?? '' },
  { title: 'Before', text: ({ before }) => jsonOf(before) },
  { title: 'After', text: ({ after }) => jsonOf(after) },
  { title: 'Personal', text: ({ personal }) => jsonOf(personal) },
];

function jsonOf(value: object | undefined): string {
  return value === undefined ? '' : JSON.stringify(value);
}

export function DetailsButton({ entry }: { entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} kind="text" onPress=${() => setOpen(true)}>Details<//>
    ${isOpen && html`<${Details} entry=${entry} onClose=${() => setOpen(false)} />`}`;
}

const columns: readonly Column<ChangedValue>[] = [
  { title: 'Value', text: ({ name }) => name },
  { title: 'Before', text: ({ before }) => before, isLong: true },
  { title: 'After', text: ({ after }) => after, isLong: true },
];

function Details({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { action, outcome, before, after, personal } = entry;
  const title = `${action}, ${outcome}`;
  return html`<dialog ref=${dialog} class="dialog entry-details" aria-label=${title} onClose=${onClose}>
    <h2 tabindex="-1" autofocus>${title}</h2>
    <dl class="facts">${factsOf(entry).map(
      ([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`,
    )}</dl>
    <${Values} caption="Values" rows=${changedValues(before, after)} />
    <${Values} caption="Personal values" rows=${changedValues(personal?.before, personal?.after)} />
    <div class="actions"><${Button} kind="quiet" onPress=${() => dialog.current?.close()}>Close<//></div>
  </dialog>`;
}

function Values({ caption, rows }: { caption: string; rows: readonly ChangedValue[] }) {
  if (rows.length === 0) return null;
  return html`<h3>${caption}</h3>
    <${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${({ name }: ChangedValue) => name} isPart=${true} keepsOrder=${true} empty="" />`;
}

function factsOf(entry: AuditEntry): readonly (readonly [string, Children])[] {
  const { userId, breakGlass } = entry;
  const member =
    userId && may('members:read')
      ? html`<a href=${addressOf('members', undefined, { text: userId })}>${userId}</a>`
      : userId;
  const facts: readonly (readonly [string, Children])[] = [
    ['At', html`<${Moment} at=${entry.at} />`],
    ['Reason', entry.reason && wordOf(entry.reason)],
    ['Reason given', entry.statedReason],
    ['By', doerOf(entry)],
    ['Operator id', entry.operatorId],
    ['Break glass', breakGlass && html`<${Badge} kind="warn">Acted past the roles<//>`],
    ['Host', entry.host],
    ['Sudo user', entry.sudoUser],
    ['As', entry.as],
    ['User', member],
    ['Client', entry.clientId],
    ['Subject', entry.subject && html`<${Subject} entry=${entry} />`],
    ['Address', entry.address],
    ['Hash of the name', entry.nameHash],
    ['Request', entry.transactionId],
    ['Times', String(entry.times)],
    ['Key', String(entry.key)],
  ];
  return facts.filter(([, value]) => value);
}
