import { formatMinor } from '../../ledger/index.ts';
import type { Alert, Language } from '../alert.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import type { LanguageTexts } from './language-texts.ts';

const languageTexts: Readonly<Record<Language, LanguageTexts>> = { en, es };

export function textsOf(language: Language): LanguageTexts {
  return languageTexts[language];
}

/** One sentence or two, as plain text. */
export function messageOf(alert: Alert, language: Language): string {
  const { account, alertType } = alert;
  const texts = textsOf(language);
  if (account === null) return texts.messages[alertType];
  const { description, lastFour, currency } = account;
  const money = (minor: bigint | null) =>
    minor === null ? '' : `${formatMinor(minor, currency)} ${currency}`;
  return fill(texts.messages[alertType], {
    account: fill(texts.account, { description, lastFour }),
    amount: money(alert.amountMinor),
    balance: money(alert.balanceMinor),
    threshold: money(alert.thresholdMinor),
    dueOn: alert.dueOn === null ? '' : dayIn(language, alert.dueOn),
  });
}

/** As a sentence names it: December 5, 2026. */
function dayIn(language: Language, day: string): string {
  const form = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  return form.format(new Date(`${day}T00:00:00Z`));
}

/** Each part once, so that a description with braces stays as it is. */
function fill(text: string, parts: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);
}
