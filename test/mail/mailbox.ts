import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers by lower-case name, unfolded. */
  readonly headers: ReadonlyMap<string, string>;
  readonly raw: string;
}

export interface Mailbox extends AsyncDisposable {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Recipients of every attempt. */
  readonly asked: string[];
  /** The reply to a step; undefined accepts it. */
  refuse: (step: 'MAIL' | 'RCPT' | 'DATA', address: string) => { code: number; text: string } | undefined;
}

/** A mail server on this machine. */
export async function startMailbox(): Promise<Mailbox> {
  const reply = (step: 'MAIL' | 'RCPT' | 'DATA', address: string) => {
    const refused = mailbox.refuse(step, address);
    return refused && Object.assign(new Error(refused.text), { responseCode: refused.code });
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom: ({ address }, _session, done) => done(reply('MAIL', address)),
    onRcptTo: ({ address }, _session, done) => {
      mailbox.asked.push(address);
      done(reply('RCPT', address));
    },
    onData: async (stream, { envelope }, done) => {
      const raw = await text(stream);
      const to = envelope.rcptTo.map(({ address }) => address);
      const refused = reply('DATA', to[0] ?? '');
      if (refused !== undefined) return done(refused);
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      mailbox.received.push({ from, to, headers: headersOf(raw), raw });
      done();
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mailbox: Mailbox = {
    port: (server.server.address() as AddressInfo).port,
    received: [],
    asked: [],
    refuse: () => undefined,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailbox;
}

function headersOf(raw: string): Map<string, string> {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
