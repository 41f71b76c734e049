import type { AlertType, digestType } from '../alert.ts';

/** The parts of a text in braces are filled in. `{account}` is the account's description and the end of its number. */
export interface LanguageTexts {
  readonly messages: Readonly<Record<AlertType, string>>;
  /** The account in a text; `{description}` and `{lastFour}`. */
  readonly account: string;
  readonly mail: MailTexts;
}

/** Of a message by e-mail, beside those of the alert. */
export interface MailTexts {
  readonly subjects: Readonly<Record<AlertType | typeof digestType, string>>;
  /** The note under every message. */
  readonly automatic: string;
  /** Under a security alert, which cannot be switched off. */
  readonly always: string;
  readonly unsubscribe: string;
  /** The page on which a member stops mail. */
  readonly page: {
    readonly title: string;
    readonly lead: string;
    readonly submit: string;
    readonly done: string;
  };
}
