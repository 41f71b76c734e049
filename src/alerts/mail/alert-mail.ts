import { alertTypes, digestType, type Language, languages, securityAlertTypes } from '../alert.ts';
import type { MailTexts } from '../texts/language-texts.ts';
import { textsOf } from '../texts/message.ts';

/** The contents of an event that goes out by e-mail. */
export interface AlertMail {
  readonly emailAddress: string;
  /** About the security of the login: such mail cannot be stopped. */
  readonly isSecurity: boolean;
  readonly language: Language;
  readonly subject: string;
  /** A digest has one for each alert. */
  readonly lines: readonly string[];
  readonly texts: MailTexts;
}

/** Undefined for an event that is not for e-mail: other channels, no verified address, or data that was erased. */
export function alertMailOf(data: object | null): AlertMail | undefined {
  const fields = new Map(Object.entries(data ?? {}));
  const [emailAddress, message] = [fields.get('emailAddress'), fields.get('message')];
  const alertType = ([...alertTypes, digestType] as const).find((type) => type === fields.get('alertType'));
  const language = languages.find((one) => one === fields.get('language')) ?? 'en';
  if (typeof emailAddress !== 'string' || typeof message !== 'string' || alertType === undefined)
    return undefined;
  const texts = textsOf(language).mail;
  return {
    emailAddress,
    isSecurity: securityAlertTypes.some((type) => type === alertType),
    language,
    subject: texts.subjects[alertType],
    lines: message.split('\n'),
    texts,
  };
}
