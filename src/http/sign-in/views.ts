import type { Step } from '../../auth/index.ts';
import { type Html, html } from '../pages/template.ts';
import { styleUrl } from './style.ts';
import { texts } from './texts.ts';

/** The paths that the pages send their forms to. */
export const paths = {
  authorize: '/auth/v2/authorize',
  signIn: '/auth/v2/sign-in',
  consent: '/auth/v2/consent',
  logout: '/auth/v2/logout',
  confirmLogout: '/auth/v2/sign-out',
} as const;

/** Durations that a member may choose. */
export const consentDays = [30, 90, 365] as const;

export interface View {
  readonly status: number;
  readonly html: string;
  /** The address to which the form leads in the end; browsers apply `form-action` to redirects too. */
  readonly leadsTo?: string;
}

export function signInView(step: Extract<Step, { kind: 'sign_in' }>): View {
  const { signIn } = texts;
  const body = html`
<p class="brand">${step.institutionName}</p>
<h1>${signIn.title}</h1>
<p class="lead">${signIn.lead(step.institutionName, step.clientName)}</p>
${step.isRefused && html`<p class="alert" role="alert">${signIn.refused}</p>`}
<form method="post" action="${paths.signIn}">
<input type="hidden" name="request" value="${step.request}">
<label for="username">${signIn.username}</label>
<input id="username" name="username" value="${step.username}" autocomplete="username webauthn" autocapitalize="none" spellcheck="false" required maxlength="254"${!step.username && html` autofocus`}>
<label for="password">${signIn.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${step.username !== undefined && html` autofocus`}>
<button>${signIn.submit}</button>
</form>`;
  return {
    ...page(`${signIn.title} · ${step.institutionName}`, body),
    status: step.isRefused ? 401 : 200,
    leadsTo: step.redirectUri,
  };
}

export function consentView(step: Extract<Step, { kind: 'consent' }>): View {
  const { consent, scopes } = texts;
  const rights = step.scopes.map((scope) => html`<li>${scopes[scope as keyof typeof scopes] ?? scope}</li>`);
  const choices = consentDays.map(
    (days) =>
      html`<label class="choice"><input type="radio" name="days" value="${days}"${days === 90 && html` checked`}>${consent.days[days]}</label>`,
  );
  const body = html`
<p class="brand">${step.institutionName}</p>
<h1>${consent.title(step.clientName)}</h1>
<p class="lead">${consent.lead(step.institutionName, step.clientName)}</p>
<p>${consent.list}</p>
<ul>${rights}</ul>
<form method="post" action="${paths.consent}">
<input type="hidden" name="request" value="${step.request}">
<fieldset><legend>${consent.duration}</legend>${choices}</fieldset>
<button name="answer" value="allow">${consent.allow}</button>
<button class="quiet" name="answer" value="refuse">${consent.refuse}</button>
</form>
<p class="note">${consent.end}</p>`;
  return {
    ...page(`${consent.title(step.clientName)} · ${step.institutionName}`, body),
    leadsTo: step.redirectUri,
  };
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

/** A request that cannot return to its app. */
export function refusedView(status: number, reason: string): View {
  const { refused } = texts;
  const body = html`<h1>${refused.title}</h1><p class="lead">${refused.lead}</p><p>${reason}</p>`;
  return { ...page(refused.title, body), status };
}

function page(title: string, body: Html): View {
  const document = html`<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styleUrl}">
</head>
<body>
<main>${body}
</main>
</body>
</html>
`;
  return { status: 200, html: document.text };
}
