import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createTransport, type NodemailerError, type Transporter } from 'nodemailer';

export interface MailServerSettings {
  /** smtp: or smtps:, with the name of the login if the server asks for one. Undefined: there is no mail server. */
  readonly smtpUrl: string | undefined;
  readonly smtpPasswordFile: string | undefined;
}

export interface OutgoingMail {
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The reply of the mail server to one message. */
export interface MailReply {
  /** Of SMTP; undefined if none came. */
  readonly status: number | undefined;
  /** A word of ours; undefined if the server took the message over. */
  readonly error: string | undefined;
  /** The server will not take the message at another attempt either. */
  readonly isFinal: boolean;
  /** It said that there is no such mailbox. */
  readonly isUnknownAddress: boolean;
}

const deadlineMillis = 15_000;
const connections = 2;

/** The mail server of the service, with a few connections to it. */
export class MailServer {
  readonly #settings: MailServerSettings;
  #transport: Transporter | undefined;

  constructor(settings: MailServerSettings) {
    this.#settings = settings;
  }

  /** Never rejects, and ends in 15 s. A message whose reply was lost comes again, with the same Message-ID. */
  async send(mail: OutgoingMail): Promise<MailReply> {
    const { from, replyTo, to, headers, ...contents } = mail;
    try {
      const transport = await this.#open();
      if (transport === undefined) return failed('not_configured');
      await transport.sendMail({
        ...contents,
        from,
        to: { name: '', address: to },
        envelope: { from: from.address, to: [to] },
        ...(replyTo !== null && { replyTo: { name: '', address: replyTo } }),
        headers: { 'Auto-Submitted': 'auto-generated', ...headers },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.timeout(deadlineMillis),
      });
      return { status: 250, error: undefined, isFinal: false, isUnknownAddress: false };
    } catch (error) {
      const reply = replyOf(error as NodemailerError);
      // The file may have another password by now.
      if (reply.error === 'login_refused') this.close();
      return reply;
    }
  }

  close(): void {
    this.#transport?.close();
    this.#transport = undefined;
  }

  async #open(): Promise<Transporter | undefined> {
    const { smtpUrl, smtpPasswordFile } = this.#settings;
    if (smtpUrl === undefined) return undefined;
    if (this.#transport !== undefined) return this.#transport;
    const { protocol, hostname, port, username } = new URL(smtpUrl);
    const secure = protocol === 'smtps:';
    const host = hostname.replace(/^\[|\]$/g, '');
    const pass = smtpPasswordFile === undefined ? '' : (await readFile(smtpPasswordFile, 'utf8')).trimEnd();
    this.#transport = createTransport({
      pool: true,
      maxConnections: connections,
      host,
      port: port === '' ? (secure ? 465 : 587) : Number(port),
      secure,
      requireTLS: !secure && !isThisMachine(host),
      ignoreTLS: !secure && isThisMachine(host),
      ...(username !== '' && { auth: { user: decodeURIComponent(username), pass } }),
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: deadlineMillis,
    });
    return this.#transport;
  }
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function failed(error: string, status?: number): MailReply {
  return { status, error, isFinal: false, isUnknownAddress: false };
}

/**
 * A refused recipient or message is over; anything else is a fault on the way, which ends, or of the settings, which somebody mends.
 * Enhanced codes 5.1.1 to 5.1.3, 5.1.6, 5.1.10 and 5.2.1 name a mailbox that takes no mail (RFC 3463); a server that refuses all recipients
 * of ours, as one that does not relay, says 5.7.1 or nothing.
 */
function replyOf(error: NodemailerError): MailReply {
  const { rejectedErrors } = error as { readonly rejectedErrors?: readonly NodemailerError[] };
  const { code, command, responseCode: status, response = '' } = rejectedErrors?.[0] ?? error;
  if (code === 'EAUTH' || code === 'ENOAUTH') return failed('login_refused', status);
  if (status === undefined) return failed(wordOf(code));
  const isUnknownAddress =
    status >= 500 && command === 'RCPT TO' && /^\d{3}[ -]5\.(?:1\.(?:1|2|3|6|10)|2\.1)\b/.test(response);
  const isMessage = status >= 500 && (command === 'DATA' || code === 'EMESSAGE');
  if (isUnknownAddress) return { status, error: 'address_refused', isFinal: true, isUnknownAddress };
  if (isMessage) return { status, error: 'message_refused', isFinal: true, isUnknownAddress };
  return failed(`status_${status}`, status);
}

function wordOf(code: string | undefined): string {
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'timeout';
  if (code === 'EDNS') return 'name_not_found';
  return code === 'ETLS' ? 'tls' : 'connection';
}
