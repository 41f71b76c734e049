/**
 * The addresses that mail is sent to and from: what a mail server takes without quoting, in ASCII. Control characters, spaces, commas
 * and brackets have no place in it, so an address cannot end a header or name a second recipient.
 */
const plain = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && plain.test(text);
}

/** The form in which addresses are compared. */
export function comparable(address: string): string {
  return address.toLowerCase();
}
