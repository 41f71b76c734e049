import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { Button, Notice, SelectField, Submit, TextField } from '../../../design/components.ts';
import { type Children, html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import {
  act,
  type LimitRule,
  type RulesPreview,
  read,
  sentenceOf,
  type Thresholds,
  type TransferRules,
} from '../../operations.ts';
import { ask, session } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import {
  type Draft,
  draftOf,
  fieldsOf,
  keyOfLimit,
  keyOfThresholds,
  type NewLimit,
  rulesOf,
  withEachType,
  withLimit,
} from './draft.ts';
import { Preview } from './preview.ts';

const types = ['STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI'];
const sourceTypes = ['CHECKING', 'SAVINGS', 'MONEY_MARKET'];
/** Of the operation. */
const mostLimits = 100;
const labels = {
  reviewAbove: 'Review above',
  secondApprovalAbove: 'Two approvals above',
  maxPerTransfer: 'Most in one transfer',
  maxAmount: 'Most in the period',
  maxCount: 'Most transfers',
} as const;

/** The thresholds and limits in a form whose changes are tried out on the last days, and never saved. */
export function Rules() {
  const { state, again } = useLoad(() => ask(() => read<TransferRules>('/transfer-rules')), []);
  return html`<section class="card" aria-labelledby="rules">
    <header><h2 id="rules">Rules of transfers</h2></header>
    <${Stateful} state=${state} subject="the rules" again=${again}>
      ${(rules: TransferRules) => html`<${RulesForm} rules=${withEachType(rules, types, session.value?.institution.currency ?? 'USD')} />`}
    <//>
  </section>`;
}

function RulesForm({ rules }: { rules: TransferRules }) {
  const [draft, setDraft] = useState(draftOf(rules));
  const [limits, setLimits] = useState(rules.limits);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [preview, setPreview] = useState<RulesPreview>();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const proposed = rulesOf(draft, { ...rules, limits });
    setFaults('faults' in proposed ? proposed.faults : {});
    setFailure(undefined);
    setPreview(undefined);
    if ('faults' in proposed) return;
    setBusy(true);
    try {
      setPreview(await ask(() => act<RulesPreview>('/transfer-rules/preview', proposed.rules)));
    } catch (error) {
      setFailure(sentenceOf(error));
    }
    setBusy(false);
  };
  const isAdded = ({ limitKey }: LimitRule) => rules.limits.every((one) => one.limitKey !== limitKey);
  const remove = ({ limitKey }: LimitRule) => setLimits(limits.filter((one) => one.limitKey !== limitKey));
  const reset = () => {
    setDraft(draftOf(rules));
    setLimits(rules.limits);
    setFaults({});
  };
  const form = { draft, faults, set: (id: string, text: string) => setDraft({ ...draft, [id]: text }) };
  return html`<form class="body" onSubmit=${submit} novalidate>
      <p class="quiet">Try other amounts on the orders of the last 30 days. Nothing is saved: rules are changed on the command line.</p>
      ${rules.thresholds.map((row) => html`<${Row} key=${keyOfThresholds(row)} kind="thresholds" of=${keyOfThresholds(row)} title=${titleOfThresholds(row)} form=${form} />`)}
      ${limits.map(
        (
          row,
        ) => html`<${Row} key=${keyOfLimit(row)} kind="limits" of=${keyOfLimit(row)} title=${titleOfLimit(row)} form=${form}>
          ${isAdded(row) && html`<${Button} kind="text" onPress=${() => remove(row)}>Remove this limit<//>`}
        <//>`,
      )}
      ${limits.length < mostLimits && html`<${AddLimit} onAdd=${(limit: NewLimit) => setLimits(withLimit(limits, limit))} />`}
      <div class="actions">
        <${Submit} isBusy=${busy}>${busy ? 'Trying …' : 'Try on the last 30 days'}<//>
        <${Button} kind="text" onPress=${reset}>As they are<//>
      </div>
      ${failure && html`<${Notice} kind="bad" title=${failure} />`}
    </form>
    ${preview && html`<${Preview} preview=${preview} />`}`;
}

interface RowProps {
  readonly kind: 'thresholds' | 'limits';
  readonly of: string;
  readonly title: string;
  readonly form: {
    readonly draft: Draft;
    readonly faults: Readonly<Record<string, string>>;
    readonly set: (id: string, text: string) => void;
  };
  readonly children?: Children;
}

function Row({ kind, of, title, form, children }: RowProps) {
  return html`<fieldset class="rule">
    <legend>${title}</legend>
    <div class="filters">${fieldsOf(kind, of).map(
      ({
        id,
        bound,
      }) => html`<${TextField} key=${id} id=${id} label=${labels[bound]} inputMode="decimal" value=${form.draft[id]}
        fault=${form.faults[id]} onValue=${(text: string) => form.set(id, text)} />`,
    )}</div>
    ${children}
  </fieldset>`;
}

/** Asks for the transfers that a new limit counts; its bounds are fields like those of the others. */
function AddLimit({ onAdd }: { onAdd: (limit: NewLimit) => void }) {
  const [chosen, setChosen] = useState({
    subject: 'CUSTOMER',
    period: 'DAY',
    transferType: '',
    sourceType: '',
  });
  const { subject, period, transferType, sourceType } = chosen;
  const currency = session.value?.institution.currency ?? 'USD';
  const add = () =>
    onAdd({ subject, period, transferType: transferType || null, sourceType: sourceType || null, currency });
  const field = (name: keyof typeof chosen, label: string, options: readonly string[]) =>
    html`<${SelectField} id=${`new-${name}`} label=${label} value=${chosen[name]} onValue=${(value: string) => setChosen({ ...chosen, [name]: value })}
      options=${options.map((value) => ({ value, label: wordOf(value) || 'All' }))} />`;
  return html`<fieldset class="rule">
    <legend>Another limit</legend>
    <div class="filters">
      ${field('subject', 'Counts for each', ['USER', 'CUSTOMER', 'ACCOUNT'])}
      ${field('period', 'In each', ['DAY', 'MONTH'])}
      ${field('transferType', 'Type of transfer', ['', ...types])}
      ${field('sourceType', 'From', ['', ...sourceTypes])}
      <div class="actions"><${Button} kind="quiet" onPress=${add}>Add the limit<//></div>
    </div>
  </fieldset>`;
}

function titleOfThresholds({ transferType, currency }: Thresholds): string {
  return `Reviews: ${wordOf(transferType)}, ${currency}`;
}

function titleOfLimit({ limitKey, subject, period, transferType, sourceType, currency }: LimitRule): string {
  const about = [transferType, sourceType && `from ${wordOf(sourceType).toLowerCase()}`].filter(Boolean);
  const which = about.map((one) => wordOf(one)).join(' ') || 'All types';
  return `Limit ${limitKey}: ${wordOf(subject)} and ${period.toLowerCase()}, ${which}, ${currency}`;
}
