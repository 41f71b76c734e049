import { domainToASCII } from 'node:url';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** As the constraint institutions_host: at least two labels, and the last begins with a letter, so that no address is one. */
const hostName = new RegExp(`^(?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);

/** Whether an institution can have the text as its host name: a DNS name in lower case and ASCII (RFC 1123 section 2.1). */
export function isHostName(text: string): boolean {
  return text.length <= 253 && hostName.test(text);
}

/** The host name that an operator means; undefined if it is none. Names of other scripts become ASCII (RFC 5891). */
export function readHostName(text: string): string | undefined {
  const name = /[/:@?#\\\s%]/.test(text) ? '' : domainToASCII(text);
  return isHostName(name) ? name : undefined;
}
