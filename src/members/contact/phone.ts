import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

const e164 = /^\+[1-9][0-9]{1,14}$/;

/**
 * E.164, or undefined when it is no number that could be dialled. Numbers without a country are read as North
 * American, where the service's institutions are. Nothing may stand around the number, and no extension behind it.
 */
export function toE164(text: string): string | undefined {
  const number = parsePhoneNumberFromString(text.trim(), { defaultCountry: 'US', extract: false });
  if (number === undefined || !number.isValid() || number.ext !== undefined) return undefined;
  // Some numbering plans know numbers longer than the 15 digits of E.164.
  return e164.test(number.number) ? number.number : undefined;
}
