import {
  type Accesses,
  type Consent,
  type ConsentableAccount,
  type ListedPasskey,
  type Scope,
  type Step,
  securityPath,
} from '../../auth/index.ts';
import type { Brand } from '../../institutions/index.ts';
import { deviceName } from '../../shared/text/device-name.ts';
import { type Html, html } from '../../shared/text/html.ts';
import type { UnsubscribePage } from '../services.ts';
import { brandMark, brandStyleUrl } from './brand.ts';
import { documentOf } from './document.ts';
import { texts } from './texts.ts';

/** The paths that the pages send their forms to. */
export const paths = {
  authorize: '/auth/v2/authorize',
  signIn: '/auth/v2/sign-in',
  passkeySignIn: '/auth/v2/sign-in/passkey',
  codeSignIn: '/auth/v2/sign-in/code',
  activate: '/auth/v2/activate',
  forgotten: '/auth/v2/forgotten',
  security: securityPath,
  addPasskey: '/auth/v2/security/passkeys',
  removePasskey: '/auth/v2/security/passkeys/remove',
  beginAuthenticator: '/auth/v2/security/authenticator',
  confirmAuthenticator: '/auth/v2/security/authenticator/confirm',
  removeAuthenticator: '/auth/v2/security/authenticator/remove',
  renewRecoveryCodes: '/auth/v2/security/recovery-codes',
  endAccess: '/auth/v2/security/end',
  narrowConsent: '/auth/v2/security/narrow',
  consent: '/auth/v2/consent',
  logout: '/auth/v2/logout',
  confirmLogout: '/auth/v2/sign-out',
  unsubscribe: '/alerts/unsubscribe',
} as const;

/** Durations that a member may choose. */
export const consentDays = [30, 90, 365] as const;

export interface View {
  readonly status: number;
  readonly html: string;
  /** The address to which the form leads in the end; browsers apply `form-action` to redirects too. */
  readonly leadsTo?: string;
  /** The page loads the module of passkeys. */
  readonly hasScript?: boolean;
}

export function signInView(step: Extract<Step, { kind: 'sign_in' }>): View {
  const { signIn } = texts;
  const reason = step.askedFor && signIn.askedFor[step.askedFor];
  const body = html`
${brandMark(step.brand)}
<h1>${signIn.title}</h1>
<p class="lead">${signIn.lead(step.brand.name, step.clientName)}</p>
${reason && html`<p class="reason">${reason(step.brand.name, step.clientName)}</p>`}
${step.isRefused && html`<p class="alert" role="alert">${signIn.refused}</p>`}
<form method="post" action="${paths.signIn}">
<input type="hidden" name="request" value="${step.request}">
<label for="username">${signIn.username}</label>
<input id="username" name="username" value="${step.username}" autocomplete="username webauthn" autocapitalize="none" spellcheck="false" required maxlength="254"${!step.username && html` autofocus`}>
<label for="password">${signIn.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${step.username !== undefined && html` autofocus`}>
<button>${signIn.submit}</button>
</form>
<form method="post" action="${paths.passkeySignIn}" hidden data-ceremony="get" data-options="${JSON.stringify(step.passkeyOptions)}">
<input type="hidden" name="request" value="${step.request}">
<input type="hidden" name="credential">
<button class="quiet">${signIn.passkey}</button>
</form>
<form class="aside" method="post" action="${paths.forgotten}">
<input type="hidden" name="request" value="${step.request}">
<p><button class="link">${signIn.forgotten}</button></p>
</form>
<form class="aside" method="post" action="${paths.activate}">
<input type="hidden" name="request" value="${step.request}">
<p>${signIn.isNew} <button class="link">${signIn.activate}</button></p>
</form>`;
  return {
    ...page(`${signIn.title} · ${step.brand.name}`, body, { brand: step.brand, hasScript: true }),
    status: step.isRefused ? 401 : 200,
    leadsTo: step.redirectUri,
  };
}

/** First activation. The member chooses a username and a password, and is signed in with them. */
export function activationView(step: Extract<Step, { kind: 'activation' }>): View {
  const { activation, signIn } = texts;
  const { refusal, request, username, isCodeOnItsWay } = step;
  const body = html`
${brandMark(step.brand)}
<h1>${activation.title}</h1>
<p class="lead">${isCodeOnItsWay ? activation.onItsWay(step.brand.name) : activation.lead(step.brand.name)}</p>
${refusal && html`<p class="alert" role="alert" id="refusal">${activation.refusals[refusal]}</p>`}
<form method="post" action="${paths.activate}">
<input type="hidden" name="request" value="${request}">
<label for="code">${activation.code}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="100"${!refusal && html` autofocus`}>
<label for="username">${signIn.username}</label>
<p class="note" id="username-form">${activation.usernameForm}</p>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="64" aria-describedby="username-form">
<label for="password">${signIn.password}</label>
<p class="note" id="password-form">${activation.passwordForm}</p>
<input id="password" name="password" type="password" autocomplete="new-password" required maxlength="1024" aria-describedby="password-form">
<button>${activation.submit}</button>
</form>`;
  return {
    ...page(`${activation.title} · ${step.brand.name}`, body, { brand: step.brand }),
    status: refusal === undefined ? 200 : 422,
    leadsTo: step.redirectUri,
  };
}

/** Asks for the username of a member who forgot the password. */
export function forgottenView(step: Extract<Step, { kind: 'forgotten' }>): View {
  const { forgotten, signIn } = texts;
  const body = html`
${brandMark(step.brand)}
<h1>${forgotten.title}</h1>
<p class="lead">${forgotten.lead(step.brand.name)}</p>
<form method="post" action="${paths.forgotten}">
<input type="hidden" name="request" value="${step.request}">
<label for="username">${signIn.username}</label>
<input id="username" name="username" value="${step.username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus>
<button>${forgotten.submit}</button>
</form>
<p class="note">${forgotten.passkey}</p>`;
  return {
    ...page(`${forgotten.title} · ${step.brand.name}`, body, { brand: step.brand }),
    leadsTo: step.redirectUri,
  };
}

/** On each page of a signed-in member. The page behind it asks first. */
export const signOutLink = html`<p class="leave"><a href="${paths.logout}">${texts.signOut.submit}</a></p>`;

export function consentView(step: Extract<Step, { kind: 'consent' }>): View {
  const { consent, scopes } = texts;
  const rights = step.scopes.map((scope) => html`<li>${scopes[scope as keyof typeof scopes] ?? scope}</li>`);
  const choices = consentDays.map(
    (days) =>
      html`<label class="choice"><input type="radio" name="days" value="${days}"${days === 90 && html` checked`}>${consent.days[days]}</label>`,
  );
  const body = html`
${brandMark(step.brand)}
<h1>${consent.title(step.clientName)}</h1>
<p class="lead">${consent.lead(step.brand.name, step.clientName)}</p>
${step.isRefused && html`<p class="alert" role="alert" id="refusal">${consent.noAccount}</p>`}
<p>${consent.list}</p>
<ul>${rights}</ul>
<form method="post" action="${paths.consent}">
<input type="hidden" name="request" value="${step.request}">
${step.accounts && accountChoice(step.accounts, step)}
<fieldset><legend>${consent.duration}</legend>${choices}</fieldset>
<button name="answer" value="allow">${consent.allow}</button>
<button class="quiet" name="answer" value="refuse">${consent.refuse}</button>
</form>
<p class="note">${consent.end}</p>
${signOutLink}`;
  return {
    ...page(`${consent.title(step.clientName)} · ${step.brand.name}`, body, { brand: step.brand }),
    status: step.isRefused ? 422 : 200,
    leadsTo: step.redirectUri,
  };
}

/** A choice of all accounts, or a box for each right on each account. Another box for all would contradict them. */
function accountChoice(
  accounts: readonly ConsentableAccount[],
  { asksToPay, isRefused }: { readonly asksToPay: boolean; readonly isRefused: boolean },
): Html {
  const { consent } = texts;
  const box = (right: 'see' | 'pay', { accountId }: ConsentableAccount) =>
    html`<label class="choice"><input type="checkbox" name="${right} ${accountId}" value="on">${consent[right]}</label>`;
  const rows = accounts.map((one) =>
    asksToPay && one.mayPay
      ? html`<fieldset class="account"><legend>${accountName(one)}</legend>${box('see', one)}${box('pay', one)}</fieldset>`
      : html`<label class="choice"><input type="checkbox" name="see ${one.accountId}" value="on">${accountName(one)}</label>`,
  );
  return html`<fieldset${isRefused && html` aria-describedby="refusal"`}><legend>${consent.accounts}</legend>
<p class="note">${consent.accountsHint}</p>
<label class="choice"><input type="radio" name="accounts" value="chosen" checked>${consent.chosen}</label>
<div class="inside">${rows}</div>
<label class="choice"><input type="radio" name="accounts" value="all">${consent.all}</label>
</fieldset>`;
}

function accountName({
  description,
  accountNumber,
}: Pick<ConsentableAccount, 'description' | 'accountNumber'>): string {
  return texts.account(description, accountNumber.replaceAll(/[^0-9A-Za-z]/g, '').slice(-4));
}

/** The member's passkeys, all that may act for the member, and the last sign-ins. Each change answers with this page again, and says how it went. */
export function securityView(step: Extract<Step, { kind: 'security' }>): View {
  const { security } = texts;
  const { outcome, request, creationOptions } = step;
  const body = html`
${brandMark(step.brand)}
<h1>${security.title}</h1>
<p class="lead">${security.lead}</p>
${outcome && html`<p class="${outcome === 'refused' ? 'alert' : 'done'}" role="${outcome === 'refused' ? 'alert' : 'status'}">${security.outcomes[outcome]}</p>`}
<h2>${security.list}</h2>
<p>${security.about}</p>
${step.passkeys.length === 0 && html`<p>${security.none}</p>`}
<ul class="rows">${step.passkeys.map((one) => passkeyRow(one, request))}</ul>
${creationOptions === undefined && html`<p class="note">${security.full}</p>`}
${
  creationOptions &&
  html`<form method="post" action="${paths.addPasskey}" hidden data-ceremony="create" data-options="${JSON.stringify(creationOptions)}">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="credential">
<label for="name">${security.name}</label>
<input id="name" name="name" value="${security.defaultName}" autocomplete="off" required maxlength="64">
<button>${security.add}</button>
</form>
<noscript><p class="note">${security.needsScript}</p></noscript>`
}
${authenticatorPart(step)}
${accessParts(step.accesses, request)}
${signOutLink}`;
  const title = `${security.title} · ${step.brand.name}`;
  return {
    ...page(title, body, { brand: step.brand, hasScript: true }),
    status: outcome === 'refused' ? 422 : 200,
  };
}

function authenticatorPart({ authenticator, request }: Extract<Step, { kind: 'security' }>): Html {
  const { security } = texts;
  if (authenticator === undefined) {
    return html`<h2>${security.authenticator}</h2>
<p>${security.aboutAuthenticator}</p>
<form method="post" action="${paths.beginAuthenticator}">
<input type="hidden" name="request" value="${request}">
<button class="quiet">${security.setUp}</button>
</form>`;
  }
  const { name, createdAt, lastUsedAt, recoveryCodes } = authenticator;
  const used = lastUsedAt === null ? security.unused : security.used(dayOf(lastUsedAt));
  return html`<h2>${security.authenticator}</h2>
<ul class="rows"><li><form method="post" action="${paths.removeAuthenticator}">
<p><strong id="n-authenticator">${name}</strong><br><span class="note">${security.added(dayOf(createdAt))} · ${used}</span></p>
<input type="hidden" name="request" value="${request}">
<button class="quiet" aria-describedby="n-authenticator">${security.remove}</button>
</form></li>
<li><form method="post" action="${paths.renewRecoveryCodes}">
<p><strong id="n-codes">${security.recoveryCodes}</strong><br><span class="note">${security.codesLeft(recoveryCodes)}</span></p>
<input type="hidden" name="request" value="${request}">
<button class="quiet" aria-describedby="n-codes">${security.renew}</button>
</form></li></ul>`;
}

function accessParts({ browsers, apps, consents, signIns }: Accesses, request: string): Html {
  const { security } = texts;
  const others = browsers.filter(({ isThis }) => !isThis).length + apps.length;
  return html`<h2>${security.browsers}</h2>
<ul class="rows">${browsers.map((one) =>
    accessRow(request, {
      name: deviceName(one.userAgent) ?? security.unknownDevice,
      note: [
        one.isThis ? security.thisBrowser : undefined,
        one.address,
        security.since(timeOf(one.startedAt)),
        security.used(timeOf(one.usedAt)),
      ],
      access: one.isThis ? undefined : { kind: 'browser', id: one.sessionId },
    }),
  )}</ul>
<h2>${security.apps}</h2>
${apps.length === 0 && html`<p>${security.noApps}</p>`}
<ul class="rows">${apps.map((one) =>
    accessRow(request, {
      name: one.clientName,
      note: [security.since(timeOf(one.startedAt)), security.used(timeOf(one.usedAt))],
      access: { kind: 'app', id: one.familyId },
    }),
  )}</ul>
${
  others > 0 &&
  html`<form method="post" action="${paths.endAccess}">
<input type="hidden" name="request" value="${request}">
<button class="quiet" name="access" value="others">${security.endOthers}</button>
</form>`
}
<h2>${security.consents}</h2>
${consents.length === 0 && html`<p>${security.noConsents}</p>`}
<ul class="rows">${consents.map((one) =>
    accessRow(request, {
      name: one.clientName,
      note: [
        security.may(one.scopes.map(rightOf)),
        one.allAccounts && one.accounts.length > 0 ? security.allAccounts : undefined,
        security.until(dayOf(one.expiresAt)),
      ],
      access: { kind: 'consent', id: one.consentId },
      more: consentParts(one, request),
    }),
  )}</ul>
<h2>${security.signIns}</h2>
<ul class="rows">${signIns.map(
    ({ at, outcome, clientName, address, times }) =>
      html`<li><strong>${security.signInOutcomes[outcome]}</strong>${
        times > 1 && ` (${times})`
      }<br><span class="note">${[timeOf(at), clientName, address].filter(Boolean).join(' · ')}</span></li>`,
  )}</ul>`;
}

interface AccessRow {
  readonly name: string;
  readonly note: readonly (string | null | undefined)[];
  /** Undefined for the browser of the page. */
  readonly access: { readonly kind: string; readonly id: string } | undefined;
  /** Below the row. */
  readonly more?: Html;
}

/** The accounts and rights of a consent. Each but the last can be removed; the last one ends with the consent. */
function consentParts({ consentId, accounts, scopes }: Consent, request: string): Html {
  const { security } = texts;
  const id = (part: string) => `p-${consentId}-${part}`;
  const remover = (part: string, label: string, described: string) =>
    html`<button class="quiet" name="removed" value="${consentId} ${part}" aria-describedby="${described}">${label}</button>`;
  const accountRows = accounts.map(
    (
      one,
      place,
    ) => html`<li><span id="${id(`a${place}`)}">${accountName(one)}${one.mayPay && `, ${security.pays}`}</span>
${one.mayPay && remover(`pay ${one.accountId}`, security.removePayment, id(`a${place}`))}
${accounts.length > 1 && remover(`see ${one.accountId}`, security.removeAccount, id(`a${place}`))}</li>`,
  );
  const scopeRows = scopes.map(
    (scope, place) => html`<li><span id="${id(`s${place}`)}">${rightOf(scope)}</span>
${scopes.length > 1 && remover(`scope ${scope}`, security.removeAccount, id(`s${place}`))}</li>`,
  );
  return html`<details><summary>${security.details}</summary>
<form method="post" action="${paths.narrowConsent}">
<input type="hidden" name="request" value="${request}">
${accounts.length > 0 && html`<p>${security.accounts}</p><ul class="parts">${accountRows}</ul>`}
<p>${security.rights}</p><ul class="parts">${scopeRows}</ul>
</form></details>`;
}

function rightOf(scope: string): string {
  return texts.scopes[scope as Scope] ?? scope;
}

function accessRow(request: string, { name, note, access, more }: AccessRow): Html {
  const about = html`<p><strong id="n-${access?.id ?? 'this'}">${name}</strong><br><span class="note">${note.filter(Boolean).join(' · ')}</span></p>`;
  if (access === undefined) return html`<li>${about}</li>`;
  const { kind, id } = access;
  return html`<li><form method="post" action="${paths.endAccess}">
${about}
<input type="hidden" name="request" value="${request}">
<button class="quiet" name="access" value="${kind} ${id}" aria-describedby="n-${id}">${texts.security.end}</button>
</form>${more}</li>`;
}

function passkeyRow(
  { passkeyId, name, isSynced, createdAt, lastUsedAt }: ListedPasskey,
  request: string,
): Html {
  const { security } = texts;
  const used = lastUsedAt === null ? security.unused : security.used(dayOf(lastUsedAt));
  return html`<li><form method="post" action="${paths.removePasskey}">
<p><strong id="n-${passkeyId}">${name}</strong><br><span class="note">${isSynced ? security.synced : security.device} · ${security.added(dayOf(createdAt))} · ${used}</span></p>
<input type="hidden" name="request" value="${request}">
<button class="quiet" name="passkey" value="${passkeyId}" aria-describedby="n-${passkeyId}">${security.remove}</button>
</form></li>`;
}

function dayOf(at: Date): string {
  return at.toLocaleDateString(texts.language, { dateStyle: 'medium', timeZone: 'UTC' });
}

/** In UTC, and says so: the page does not know where the member is. */
function timeOf(at: Date): string {
  return `${at.toLocaleString(texts.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`;
}

export function signOutView(): View {
  const { signOut } = texts;
  const body = html`
<h1>${signOut.title}</h1>
<p class="lead">${signOut.lead}</p>
<form method="post" action="${paths.confirmLogout}"><button>${signOut.submit}</button></form>`;
  return page(signOut.title, body);
}

export function signedOutView(): View {
  const { signOut } = texts;
  return page(signOut.done, html`<h1>${signOut.done}</h1><p class="lead">${signOut.doneLead}</p>`);
}

/** Asks first: programs that check the links of a message open them. */
export function unsubscribeView({ language, title, lead, submit }: UnsubscribePage, token: string): View {
  const body = html`
<h1>${title}</h1>
<p class="lead">${lead}</p>
<form method="post" action="${paths.unsubscribe}?token=${encodeURIComponent(token)}"><button>${submit}</button></form>`;
  return page(title, body, { language });
}

export function unsubscribedView({ language, done, lead }: UnsubscribePage): View {
  return page(done, html`<h1>${done}</h1><p class="lead">${lead}</p>`, { language });
}

/** A request that cannot return to its app. */
export function refusedView(status: number, reason: string): View {
  const { refused } = texts;
  const body = html`<h1>${refused.title}</h1><p class="lead">${refused.lead}</p><p>${reason}</p>`;
  return { ...page(refused.title, body), status };
}

export function page(
  title: string,
  body: Html,
  {
    brand,
    hasScript = false,
    language = texts.language,
  }: { readonly brand?: Brand; readonly hasScript?: boolean; readonly language?: string } = {},
): View {
  const brandStyle = brand?.color ? brandStyleUrl(brand.color) : undefined;
  return { status: 200, html: documentOf({ language, title, body, hasScript, brandStyle }), hasScript };
}
