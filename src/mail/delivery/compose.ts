import type { AlertMail } from '../../alerts/index.ts';
import { html } from '../../shared/text/html.ts';
import type { MailSender } from '../senders/senders.ts';
import type { OutgoingMail } from './mail-server.ts';

interface Contents {
  readonly sender: MailSender;
  readonly alert: AlertMail;
  /** Makes the Message-ID: the same at each attempt. */
  readonly eventId: string;
  readonly unsubscribe: string | undefined;
}

const styles = {
  body: 'margin:0;padding:24px;background:#f6f5f2;color:#1d2530;font:16px/1.5 Arial,sans-serif',
  card: 'max-width:36em;margin:0 auto;padding:24px;background:#ffffff;border:1px solid #dedad2',
  faint: 'color:#5d6978;font-size:13px',
};

/** Plain text and HTML with the same words. */
export function composeMail({ sender, alert, eventId, unsubscribe }: Contents): OutgoingMail {
  const { fromName, fromAddress, replyTo } = sender;
  const { emailAddress: to, language, subject, lines, texts } = alert;
  const notes = [texts.automatic, ...(unsubscribe === undefined ? [texts.always] : [])];
  const stop = unsubscribe === undefined ? [] : [`${texts.unsubscribe}: ${unsubscribe}`];
  return {
    from: { name: fromName, address: fromAddress },
    replyTo,
    to,
    subject,
    text: `${[fromName, ...lines, ...notes, ...stop].join('\n\n')}\n`,
    html: html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="${styles.body}">
<div style="${styles.card}">
<p style="${styles.faint}">${fromName}</p>
${lines.map((line) => html`<p>${line}</p>\n`)}<p style="${styles.faint}">${notes.join(' ')}${
      unsubscribe !== undefined && html` <a href="${unsubscribe}">${texts.unsubscribe}</a>`
    }</p>
</div>
</body>
</html>
`.text,
    messageId: `<${eventId}@${fromAddress.slice(fromAddress.indexOf('@') + 1)}>`,
    headers:
      unsubscribe === undefined
        ? {}
        : // RFC 8058: the member's mail program sends a POST to it.
          { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  };
}
