import { type AlertMail, alertMailOf } from '../../alerts/index.ts';
import { ownOrigin } from '../../events/index.ts';
import type { FeedEvent } from '../../feed/index.ts';
import { type DeliveryMessage, seams } from '../../shared/seams.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { Posted, SendOf } from '../../webhooks/index.ts';
import { comparable, isMailAddress } from '../address.ts';
import { findMailSender, type MailDeps, type MailSender } from '../senders/senders.ts';
import { isSuppressed } from '../suppressions/suppression-queries.ts';
import { suppressAddress } from '../suppressions/suppressions.ts';
import { composeMail } from './compose.ts';
import { type MailReply, MailServer, type MailServerSettings, type OutgoingMail } from './mail-server.ts';

export interface MailTransportDeps extends MailDeps {
  readonly settings: MailServerSettings;
  /** The page on which a member stops mail. */
  readonly unsubscribeUrl: (
    institutionId: InstitutionId,
    member: { readonly userId: string; readonly language: AlertMail['language'] },
  ) => Promise<string>;
}

/** Sends the alerts of the feed to the addresses that they name. */
export class MailTransport {
  readonly #deps: MailTransportDeps;
  readonly #server: MailServer;

  constructor(deps: MailTransportDeps) {
    this.#deps = deps;
    this.#server = new MailServer(deps.settings);
  }

  readonly sendOf: SendOf = async (institutionId) => {
    const sender = await findMailSender(this.#deps, institutionId);
    return async (event) =>
      sender === undefined ? undefined : this.#sendEvent(institutionId, sender, event);
  };

  /** Sends a message at once and returns the reply, for an operator who tries the settings. */
  test(sender: MailSender, to: string, messageId: string): Promise<MailReply> {
    const text = `This message shows that ${sender.fromName} can send mail.`;
    return this.#hand({ ...composeTest(sender, text), to, messageId });
  }

  close(): void {
    this.#server.close();
  }

  async #sendEvent(
    institutionId: InstitutionId,
    sender: MailSender,
    event: FeedEvent,
  ): Promise<Posted | undefined> {
    const alert = alertMailOf(event.data);
    if (alert === undefined || event.userId === null) return undefined;
    const started = performance.now();
    const posted = (reply: Pick<MailReply, 'status' | 'error' | 'isFinal'>): Posted => ({
      ...reply,
      response: '',
      retryAfterSeconds: undefined,
      durationMillis: Math.round(performance.now() - started),
    });
    const { emailAddress } = alert;
    if (!isMailAddress(emailAddress)) {
      return posted({ status: undefined, error: 'address_not_allowed', isFinal: true });
    }
    const { database } = this.#deps;
    if (await database.read(institutionId, (db) => isSuppressed(db, comparable(emailAddress)))) {
      return posted({ status: undefined, error: 'suppressed', isFinal: true });
    }
    const unsubscribe = alert.isSecurity
      ? undefined
      : await this.#deps.unsubscribeUrl(institutionId, { userId: event.userId, language: alert.language });
    const reply = await this.#hand(composeMail({ sender, alert, eventId: event.eventId, unsubscribe }));
    if (reply.isUnknownAddress) {
      const report = { address: emailAddress, reason: 'REFUSED', origin: ownOrigin() } as const;
      await suppressAddress(this.#deps, institutionId, report);
    }
    return posted(reply);
  }

  async #hand(mail: OutgoingMail): Promise<MailReply> {
    const { smtpUrl } = this.#deps.settings;
    const url = smtpUrl === undefined ? null : URL.parse(smtpUrl);
    if (!seams.delivery.hasSubscribers || url === null) return this.#server.send(mail);
    const message: DeliveryMessage = { kind: 'mail', method: 'SEND', url, headers: {} };
    return seams.delivery.tracePromise(async () => {
      const started = performance.now();
      const reply = await this.#server.send(mail);
      const { status, error: outcome = 'accepted' } = reply;
      Object.assign(message, { status, outcome, seconds: (performance.now() - started) / 1000 });
      return reply;
    }, message);
  }
}

function composeTest({ fromName, fromAddress, replyTo }: MailSender, text: string) {
  const from = { name: fromName, address: fromAddress };
  return {
    from,
    replyTo,
    subject: 'Test',
    text,
    html: `<p>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`,
    headers: {},
  };
}
