import type { Account, AlertPreferences, AlertRuleType, AlertRuleUpdate } from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { Choice, Empty, Notice, SelectField, Submit, TextField } from '../../../design/components.ts';
import { readAmount } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { nameOf } from '../../accounts.ts';
import { ask, sentenceOf } from '../../bank.ts';
import { Screen, Stateful } from '../../shell.ts';

/** `amount` is the label of the threshold, for the types that have one. */
const types: readonly { readonly type: AlertRuleType; readonly label: string; readonly amount?: string }[] = [
  { type: 'LOW_BALANCE', label: 'The balance falls low', amount: 'Below' },
  { type: 'HIGH_BALANCE', label: 'The balance rises high', amount: 'Above' },
  { type: 'DEPOSIT', label: 'Money comes in', amount: 'From' },
  { type: 'PAYMENT', label: 'Money goes out', amount: 'From' },
  { type: 'TRANSFER_COMPLETE', label: 'A transfer is complete' },
  { type: 'TRANSFER_PENDING', label: 'A transfer waits' },
  { type: 'TRANSFER_FAILED', label: 'A transfer fails' },
];

/** One row of the form. The text of the threshold is kept as the member typed it. */
interface Line {
  readonly isWanted: boolean;
  readonly text: string;
}

export function PreferencesScreen() {
  const { state, again } = useLoad(async () => {
    const [accounts, preferences] = await Promise.all([
      ask((bank) => bank.accounts.list()),
      ask((bank) => bank.alerts.preferences()),
    ]);
    return { accounts: accounts.filter(({ category }) => category === 'DEPOSIT'), preferences };
  }, []);
  return html`<${Screen} title="Choose alerts" back="alerts">
    <${Stateful} state=${state} subject="your choices" again=${again}>
      ${(loaded: { accounts: readonly Account[]; preferences: AlertPreferences }) => html`<${ByAccount} ...${loaded} />`}
    <//>
  <//>`;
}

function ByAccount({
  accounts,
  preferences,
}: {
  accounts: readonly Account[];
  preferences: AlertPreferences;
}) {
  const [saved, setSaved] = useState(preferences);
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? '');
  const account = accounts.find((one) => one.accountId === accountId);
  if (account === undefined) return html`<${Empty}>You have no account with alerts.<//>`;
  return html`<section class="card" aria-label="Alerts of an account"><div class="body fields">
    <${SelectField} id="account" label="Account" value=${accountId} onValue=${setAccountId}
      options=${accounts.map((one) => ({ value: one.accountId, label: nameOf(one) }))} />
    <${Lines} key=${accountId} account=${account} preferences=${saved} onSaved=${setSaved} />
  </div></section>`;
}

interface LinesProps {
  readonly account: Account;
  readonly preferences: AlertPreferences;
  readonly onSaved: (preferences: AlertPreferences) => void;
}

function Lines({ account, preferences, onSaved }: LinesProps) {
  const { accountId } = account;
  const decimals = account.balance.currentBalance.amount.split('.')[1]?.length ?? 0;
  const ruleOf = (type: AlertRuleType) =>
    preferences.alerts.find((rule) => rule.accountId === accountId && rule.alertType === type);
  const [lines, setLines] = useState<readonly Line[]>(() =>
    types.map(({ type }) => ({ isWanted: ruleOf(type) !== undefined, text: ruleOf(type)?.threshold ?? '' })),
  );
  const [faults, setFaults] = useState<ReadonlySet<AlertRuleType>>(new Set());
  const [result, setResult] = useState<{ readonly fault?: string }>();
  const [busy, setBusy] = useState(false);
  const change = (at: number, changed: Partial<Line>) => {
    setResult(undefined);
    setLines(lines.map((line, index) => (index === at ? { ...line, ...changed } : line)));
  };

  const save = async (event: Event) => {
    event.preventDefault();
    const wanted = types.flatMap(({ type, amount }, index): AlertRuleUpdate[] => {
      const line = lines[index];
      if (line?.isWanted !== true) return [];
      const channels = ruleOf(type)?.channels ?? ['EMAIL', 'INBOX'];
      const threshold = amount === undefined ? undefined : readAmount(line.text, decimals);
      return [{ alertType: type, accountId, channels, threshold }];
    });
    const wrong = wanted.filter(
      ({ alertType, threshold }) =>
        threshold === undefined && types.find(({ type }) => type === alertType)?.amount,
    );
    setFaults(new Set(wrong.map(({ alertType }) => alertType)));
    const [first] = wrong;
    if (first !== undefined) return document.getElementById(`amount-${first.alertType}`)?.focus();
    setBusy(true);
    try {
      // The service replaces all preferences: those of other accounts go with these.
      const others = preferences.alerts.filter((rule) => rule.accountId !== accountId);
      onSaved(
        await ask((bank) =>
          bank.alerts.replacePreferences({ ...preferences, alerts: [...others, ...wanted] }),
        ),
      );
      setResult({});
    } catch (error) {
      setResult({ fault: sentenceOf(error) });
    }
    setBusy(false);
  };

  return html`<form class="fields" onSubmit=${save} novalidate>
    ${types.map(
      ({ type, label, amount }, index) => html`<div class="rule" key=${type}>
        <${Choice} id=${type} label=${label} isChecked=${lines[index]?.isWanted} onChange=${(isWanted: boolean) => change(index, { isWanted })} />
        ${
          amount &&
          lines[index]?.isWanted &&
          html`<${TextField} id=${`amount-${type}`} label=${amount} inputMode="decimal" value=${lines[index]?.text}
          onValue=${(text: string) => change(index, { text })} fault=${faults.has(type) ? 'Write an amount, like 100.00.' : undefined} />`
        }
      </div>`,
    )}
    ${result && (result.fault === undefined ? html`<${Notice} title="Your choices are saved." />` : html`<${Notice} kind="bad" title=${result.fault} />`)}
    <div class="actions"><${Submit} isBusy=${busy}>${busy ? 'Saving …' : 'Save'}<//></div>
  </form>`;
}
