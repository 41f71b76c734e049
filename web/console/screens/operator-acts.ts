// An administrator's acts on operators. The service decides: the buttons only leave out the acts that it would refuse.
import { useState } from 'preact/hooks';
import { Button, Choice, TextField } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { type Act, ActButton, ActDialog } from '../act.ts';
import { wordOf } from '../format.ts';
import { act, type Invitation, type Operator, pathOf } from '../operations.ts';
import { session } from '../session.ts';

type OnDone = (made?: Invitation) => void;

/** The roles in the words of docs/operators.md. */
const roles: readonly (readonly [role: string, may: string])[] = [
  ['viewer', 'read the institution, members, accounts and transfers'],
  ['teller', 'read, and serve members'],
  ['approver', 'read, and decide on transfers'],
  ['administrator', 'change the institution and its operators; no personal data'],
  ['auditor', 'read everything, and export the audit'],
];

interface RolesFieldProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly fault: string | undefined;
}

function RolesField({ chosen, onChange, fault }: RolesFieldProps) {
  return html`<fieldset class="choices" aria-describedby=${fault && 'roles-fault'}>
    <legend>Roles</legend>
    ${roles.map(
      ([
        role,
        can,
      ]) => html`<${Choice} key=${role} id=${`role-${role}`} label=${`${wordOf(role)}: ${can}`} isChecked=${chosen.includes(role)}
        onChange=${(isChecked: boolean) => onChange(isChecked ? [...chosen, role] : chosen.filter((one) => one !== role))} />`,
    )}
    ${fault && html`<p class="fault" id="roles-fault">${fault}</p>`}
  </fieldset>`;
}

const rolesNeeded = 'Choose at least one role.';

export function InviteButton({ onDone }: { onDone: OnDone }) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} onPress=${() => setOpen(true)}>Invite an operator<//>
    ${isOpen && html`<${InviteDialog} onDone=${onDone} onClose=${() => setOpen(false)} />`}`;
}

function InviteDialog({ onDone, onClose }: { onDone: OnDone; onClose: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [wasChecked, setChecked] = useState(false);
  const found: Readonly<Record<string, string | undefined>> = {
    name: name.trim() === '' ? 'Write the name that the audit will show.' : undefined,
    email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : 'Write an e-mail address.',
    'role-viewer': chosen.length === 0 ? rolesNeeded : undefined,
  };
  // Nobody is told of a fault before they have finished, and a fault goes as soon as it is mended.
  const faults = wasChecked ? found : {};
  const check = () => {
    setChecked(true);
    return Object.entries(found).find(([, fault]) => fault !== undefined)?.[0];
  };
  const invite: Act<Invitation> = {
    verb: 'Invite',
    effect:
      'The person gets a code for 72 hours, which makes a passkey. You hand it over; the service mails it to nobody.',
    check,
    run: (reason) =>
      act<Invitation>('/operators', { name: name.trim(), email: email.trim(), roles: chosen, reason }),
  };
  return html`<${ActDialog} act=${invite} onDone=${onDone} onClose=${onClose}>
    <${TextField} id="name" label="Name" value=${name} onValue=${setName} maxLength=${128} fault=${faults.name}
      hint="The audit shows it for good." />
    <${TextField} id="email" label="E-mail" value=${email} onValue=${setEmail} maxLength=${254} fault=${faults.email} />
    <${RolesField} chosen=${chosen} onChange=${setChosen} fault=${faults['role-viewer']} />
  <//>`;
}

/** Nobody changes their own roles or status, and an operator who has ended stays so. */
export function OperatorActs({ operator, onDone }: { operator: Operator; onDone: OnDone }) {
  if (operator.operatorId === session.value?.operatorId || operator.status === 'ENDED') return null;
  const changed = () => onDone();
  return html`<div class="actions">
    ${actsOf(operator).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${changed} />`)}
    ${operator.source !== 'PROVIDER' && html`<${RolesButton} operator=${operator} onDone=${changed} />`}
    ${isInvited(operator) && html`<${ActButton} act=${newCode(operator)} onDone=${onDone} />`}
  </div>`;
}

function change({ operatorId }: Operator, wanted: object, reason: string): Promise<Operator> {
  return act<Operator>(pathOf`/operators/${operatorId}`, { ...wanted, reason }, 'PATCH');
}

function actsOf(operator: Operator): Act<Operator>[] {
  const { name, status } = operator;
  const to = (verb: string, next: string, effect: string): Act<Operator> => ({
    verb,
    effect,
    run: (reason) => change(operator, { status: next }, reason),
  });
  const end = to('End', 'ENDED', `${name} signs in no more, for good. Every session and passkey ends.`);
  if (status === 'INVITED')
    return [to('End', 'ENDED', `The code of ${name} ends, and no other can be made.`)];
  return status === 'ACTIVE'
    ? [to('Suspend', 'SUSPENDED', `${name} is refused from the next request on.`), end]
    : [to('Resume', 'ACTIVE', `${name} may sign in again.`), end];
}

function isInvited({ source, status }: Operator): boolean {
  return source === 'INVITATION' && status !== 'SUSPENDED';
}

function newCode({ operatorId, name }: Operator): Act<Invitation> {
  return {
    verb: 'New code',
    effect: `For an invitation that expired, or for lost passkeys: every passkey and every session of ${name} ends.`,
    run: (reason) => act<Invitation>(pathOf`/operators/${operatorId}/invitation`, { reason }),
  };
}

function RolesButton({ operator, onDone }: { operator: Operator; onDone: OnDone }) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} kind="quiet" onPress=${() => setOpen(true)}>Change roles<//>
    ${isOpen && html`<${RolesDialog} operator=${operator} onDone=${onDone} onClose=${() => setOpen(false)} />`}`;
}

function RolesDialog({
  operator,
  onDone,
  onClose,
}: {
  operator: Operator;
  onDone: OnDone;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState(operator.roles);
  const [wasChecked, setChecked] = useState(false);
  const fault = chosen.length === 0 ? rolesNeeded : undefined;
  const changeRoles: Act<Operator> = {
    verb: 'Change roles',
    effect: `${operator.name} has these roles from the next request on.`,
    check() {
      setChecked(true);
      return fault && 'role-viewer';
    },
    run: (reason) => change(operator, { roles: chosen }, reason),
  };
  return html`<${ActDialog} act=${changeRoles} onDone=${() => onDone()} onClose=${onClose}>
    <${RolesField} chosen=${chosen} onChange=${setChosen} fault=${wasChecked ? fault : undefined} />
  <//>`;
}
