import { type Language, languages, stopAlertMail, textsOf } from '../alerts/index.ts';
import { DecryptionError, type InstitutionHost, issuerAt, type Vault } from '../auth/index.ts';
import type { MailServices, UnsubscribeServices } from '../http/index.ts';
import { findInstitution } from '../institutions/index.ts';
import { type MailDeps, MailTransport, suppressAddress } from '../mail/index.ts';
import type { InstitutionId } from '../storage/index.ts';
import type { Config } from './config.ts';

const purpose = 'alert unsubscribe link';

interface Link {
  readonly institutionId: InstitutionId;
  readonly userId: string;
  readonly language: Language;
}

/** The mail of this process, or of a command. */
export function openMail(
  { smtpUrl, smtpPasswordFile, publicUrl }: Pick<Config, 'smtpUrl' | 'smtpPasswordFile' | 'publicUrl'>,
  deps: MailDeps & { readonly vault: Vault },
): MailTransport {
  return new MailTransport({
    ...deps,
    settings: { smtpUrl, smtpPasswordFile },
    unsubscribeUrl: async (institutionId, { userId, language }) => {
      const institution = await deps.database.directory((db) => findInstitution(db, institutionId));
      const origin = institution?.host ? issuerAt(institution.host) : publicUrl;
      return `${origin}/alerts/unsubscribe?token=${tokenOf(deps.vault, { institutionId, userId, language })}`;
    },
  });
}

/** A member who stops mail by the link of a message need not sign in: the link is sealed, and can do nothing else. */
export function unsubscribeServicesOf(
  deps: MailDeps & { readonly vault: Vault; readonly host: InstitutionHost | undefined },
): UnsubscribeServices {
  const { vault, host } = deps;
  // At the host name of an institution, links of others are none.
  const ownLinkOf = (token: string) => {
    const link = linkOf(vault, token);
    return host === undefined || link?.institutionId === host.institutionId ? link : undefined;
  };
  return {
    pageOf: (token) => {
      const link = ownLinkOf(token);
      return link && { language: link.language, ...textsOf(link.language).mail.page };
    },
    stop: async (token, origin) => {
      const link = ownLinkOf(token);
      if (link !== undefined) await stopAlertMail(deps, link.institutionId, { userId: link.userId, origin });
    },
  };
}

export function mailServicesOf(deps: MailDeps): MailServices {
  return {
    suppress: ({ institutionId, clientId }, { address, reason, origin }) =>
      suppressAddress(deps, institutionId, { address, reason, clientId, origin }),
  };
}

function tokenOf(vault: Vault, { institutionId, userId, language }: Link): string {
  return Buffer.from(
    vault.seal(purpose, Buffer.from(JSON.stringify([institutionId, userId, language]))),
  ).toString('base64url');
}

function linkOf(vault: Vault, token: string): Link | undefined {
  try {
    const opened = Buffer.from(vault.open(purpose, Buffer.from(token, 'base64url'))).toString();
    const [institutionId, userId, given] = JSON.parse(opened) as [InstitutionId, string, string];
    return { institutionId, userId, language: languages.find((one) => one === given) ?? 'en' };
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
