import { type AlertType, alertTypes, type Language, languages } from '../alert.ts';
import type { MailTexts } from '../texts/language-texts.ts';
import { textsOf } from '../texts/message.ts';

/** The contents of an event that goes out by e-mail. */
export interface AlertMail {
  readonly emailAddress: string;
  readonly alertType: AlertType;
  readonly language: Language;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly texts: MailTexts;
}

/** Undefined for an event that is not for e-mail: other channels, no verified address, or data that was erased. */
export function alertMailOf(data: object | null): AlertMail | undefined {
  const fields = new Map(Object.entries(data ?? {}));
  const [emailAddress, message] = [fields.get('emailAddress'), fields.get('message')];
  const alertType = alertTypes.find((type) => type === fields.get('alertType'));
  const language = languages.find((one) => one === fields.get('language')) ?? 'en';
  if (typeof emailAddress !== 'string' || typeof message !== 'string' || alertType === undefined)
    return undefined;
  const texts = textsOf(language).mail;
  return { emailAddress, alertType, language, subject: texts.subjects[alertType], lines: [message], texts };
}
