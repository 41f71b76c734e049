import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * E.164, or undefined when it is no number that could be dialled. Numbers without a country are read as North
 * American, where the service's institutions are.
 */
export function toE164(text: string): string | undefined {
  const number = parsePhoneNumberFromString(text, 'US');
  return number?.isValid() === true && number.ext === undefined ? number.number : undefined;
}
