import type { ExportedEntry } from '../../../events/index.ts';

/** RFC 5424, table 1: 13 is "log audit". */
const facility = 13;
/** RFC 5424, table 2. */
const severity = { succeeded: 6, refused: 4 };
/** RFC 5612 reserves this enterprise number for documents; an element of our own needs some number. */
const enterprise = 32_473;

/**
 * An entry as a syslog message (RFC 5424): the structured data has its place in the chain, the message the entry as JSON. Each
 * message is one line, as RFC 6587, section 3.4.2, frames them.
 */
export function toSyslog(entry: ExportedEntry, institution: string): string {
  const priority = facility * 8 + (entry.outcome === 'refused' ? severity.refused : severity.succeeded);
  const parameters = Object.entries({
    institution,
    chain: entry.chain,
    number: entry.number,
    hash: entry.hash,
  })
    .map(([name, value]) => ` ${name}="${String(value).replaceAll(/["\\\]]/g, '\\$&')}"`)
    .join('');
  const host = headerText(entry.host, 255);
  const message = headerText(entry.action, 32);
  const data = `[sharedraft@${enterprise}${parameters}]`;
  return `<${priority}>1 ${entry.at} ${host} sharedraft - ${message} ${data} ${JSON.stringify(entry)}`;
}

/** A field of the header: printable ASCII without spaces, `-` for none. */
function headerText(value: unknown, most: number): string {
  if (typeof value !== 'string') return '-';
  return value.replaceAll(/[^!-~]/g, '?').slice(0, most) || '-';
}
