import type { AlertType } from '../alert.ts';

/** The parts of a text in braces are filled in. `{account}` is the account's description and the end of its number. */
export interface LanguageTexts {
  readonly messages: Readonly<Record<AlertType, string>>;
  /** The account in a text; `{description}` and `{lastFour}`. */
  readonly account: string;
}
