import { formatMoney, shareOf } from './format/money.ts';
import { type Children, html } from './html.ts';

export interface MoneyValue {
  readonly amount: string;
  readonly currencyCode: string;
}

/** An exact amount. With `isCredit` it is a movement: a plus and a color for money that came in, a minus for money that left. */
export function Amount({ value, isCredit, size }: { value: MoneyValue; isCredit?: boolean; size?: 'large' }) {
  const { amount, currencyCode } = value;
  const text =
    isCredit === undefined
      ? formatMoney(amount, currencyCode)
      : formatMoney(`${isCredit ? '' : '-'}${amount.replace('-', '')}`, currencyCode, { sign: 'always' });
  return html`<span class="amount" data-size=${size} data-sign=${isCredit ? 'credit' : undefined}>${text}</span>`;
}

interface ButtonProps {
  readonly kind?: 'quiet' | 'text';
  readonly isBusy?: boolean;
  /** Of one choice among several. */
  readonly isPressed?: boolean;
  readonly onPress: () => void;
  readonly children?: Children;
}

/** A busy button keeps the focus, and does nothing when pressed. */
export function Button({ kind, isBusy = false, isPressed, onPress, children }: ButtonProps) {
  const press = () => {
    if (!isBusy) onPress();
  };
  return html`<button type="button" class="button" data-kind=${kind} aria-disabled=${isBusy} aria-pressed=${isPressed} onClick=${press}>${children}</button>`;
}

/** The button that sends the form around it. */
export function Submit({ isBusy = false, children }: { isBusy?: boolean; children?: Children }) {
  const press = (event: Event) => {
    if (isBusy) event.preventDefault();
  };
  return html`<button class="button" aria-disabled=${isBusy} onClick=${press}>${children}</button>`;
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value is refused, and how to correct it. */
  readonly fault?: string | undefined;
}

function descriptionOf({ id, hint, fault }: Omit<FieldProps, 'label'>): string | undefined {
  const ids = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(' ');
}

function Field({ id, label, hint, fault, children }: FieldProps & { readonly children?: Children }) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${fault && html`<p class="fault" id=${`${id}-fault`}>${fault}</p>`}
  </div>`;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'search' | 'date' | 'time' | 'datetime-local';
  readonly inputMode?: 'decimal' | 'text';
  readonly maxLength?: number;
  readonly autoComplete?: string;
}

export function TextField({
  value,
  onValue,
  type = 'text',
  inputMode,
  maxLength,
  autoComplete = 'off',
  ...field
}: TextFieldProps) {
  return html`<${Field} ...${field}>
    <input id=${field.id} type=${type} inputmode=${inputMode} maxlength=${maxLength} autocomplete=${autoComplete}
      value=${value} aria-invalid=${field.fault !== undefined} aria-describedby=${descriptionOf(field)}
      onInput=${(event: InputEvent) => onValue((event.currentTarget as HTMLInputElement).value)} />
  <//>`;
}

/** A text of several lines, like keys. */
export function LongTextField({ value, onValue, maxLength, ...field }: TextFieldProps) {
  return html`<${Field} ...${field}>
    <textarea id=${field.id} rows="5" maxlength=${maxLength} autocomplete="off" spellcheck=${false}
      value=${value} aria-invalid=${field.fault !== undefined} aria-describedby=${descriptionOf(field)}
      onInput=${(event: InputEvent) => onValue((event.currentTarget as HTMLTextAreaElement).value)}></textarea>
  <//>`;
}

interface SelectFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly isDisabled?: boolean;
  }[];
}

export function SelectField({ value, onValue, options, ...field }: SelectFieldProps) {
  return html`<${Field} ...${field}>
    <select id=${field.id} value=${value} aria-invalid=${field.fault !== undefined} aria-describedby=${descriptionOf(field)}
      onChange=${(event: Event) => onValue((event.currentTarget as HTMLSelectElement).value)}>
      ${options.map((option) => html`<option key=${option.value} value=${option.value} disabled=${option.isDisabled}>${option.label}</option>`)}
    </select>
  <//>`;
}

interface ChoiceProps {
  readonly id: string;
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function Choice({ id, label, isChecked, onChange }: ChoiceProps) {
  return html`<div class="choice">
    <input id=${id} type="checkbox" checked=${isChecked}
      onChange=${(event: Event) => onChange((event.currentTarget as HTMLInputElement).checked)} />
    <label for=${id}>${label}</label>
  </div>`;
}

interface NoticeProps {
  readonly title: string;
  readonly kind?: 'info' | 'warn' | 'bad';
  readonly children?: Children;
}

/** A message of the page. Screen readers announce it when it appears. */
export function Notice({ title, kind = 'info', children }: NoticeProps) {
  return html`<div class="notice" data-kind=${kind} role=${kind === 'bad' ? 'alert' : 'status'}><p>${title}</p>${children}</div>`;
}

export function Badge({ kind, children }: { kind?: 'good' | 'warn' | 'bad'; children?: Children }) {
  return html`<span class="badge" data-kind=${kind}>${children}</span>`;
}

export function Empty({ children }: { children?: Children }) {
  return html`<p class="empty">${children}</p>`;
}

export function Loading({ subject }: { subject: string }) {
  return html`<p class="loading" role="status">Loading ${subject} …</p>`;
}

export interface Bar {
  readonly label: string;
  readonly minor: bigint;
  /** The amount as it is shown. */
  readonly value: MoneyValue;
}

/** Amounts beside each other, the largest as wide as the picture. The words and amounts are text; the picture repeats them. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  const largest = bars.reduce((most, { minor }) => (minor > most ? minor : most), 0n);
  return html`<ul class="bars">
    ${bars.map(
      ({ label, minor, value }) => html`<li key=${label}>
        <div class="bar-line"><span>${label}</span><${Amount} value=${value} /></div>
        <svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 8">
          <rect class="track" width="100" height="8" rx="1" />
          <rect class="filled" width=${shareOf(minor, largest)} height="8" rx="1" />
        </svg>
      </li>`,
    )}
  </ul>`;
}
