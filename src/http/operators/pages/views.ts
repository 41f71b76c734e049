import {
  type AskingDevice,
  demoOperators,
  type EnrollmentPage,
  type OwnPasskey,
  type PasskeysPage,
} from '../../../operators/index.ts';
import { type Html, html } from '../../../shared/text/html.ts';
import { brandMark } from '../../sign-in/brand.ts';
import { type OperatorView, paths } from './page.ts';
import { texts } from './texts.ts';

interface SignIn {
  readonly next: string;
  readonly demos: readonly { readonly code: string; readonly name: string }[];
  /** Undefined where no passkey works: at an address in place of a name, or over http. */
  readonly passkey: { readonly request: string; readonly options: object } | undefined;
  /** The same page at a name. */
  readonly byName: string | undefined;
  readonly refusal?: { readonly status: 401 | 422; readonly text: string } | undefined;
  /** The short name, as far as it is known. */
  readonly institution?: string;
}

export function signInView({
  next,
  demos,
  passkey,
  byName,
  refusal,
  institution = '',
}: SignIn): OperatorView {
  const { signIn } = texts;
  const body = html`<h1>${signIn.title}</h1>
<p class="lead">${signIn.lead}</p>
${refusal && html`<p class="alert" role="alert">${refusal.text}</p>`}
${
  passkey &&
  html`<form method="post" action="${paths.passkeySignIn}" hidden data-ceremony="get" data-options="${JSON.stringify(passkey.options)}">
<input type="hidden" name="request" value="${passkey.request}">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="credential">
<button>${signIn.passkey}</button>
</form>
<noscript><p class="note">${signIn.needsScript}</p></noscript>
<details${institution !== '' && html` open`}><summary>${signIn.byProvider}</summary>
<form method="post" action="${paths.providerSignIn}">
<input type="hidden" name="next" value="${next}">
<label for="institution">${signIn.institution}</label>
<input id="institution" name="institution" value="${institution}" autocomplete="organization" autocapitalize="none" spellcheck="false" required maxlength="64">
<button class="quiet">${signIn.provider}</button>
</form></details>`
}
${byName !== undefined && html`<p><a href="${byName}">${signIn.byName}</a></p>`}
${passkey === undefined && byName === undefined && html`<p>${texts.unsafe}</p>`}
${demos.length > 0 && html`<p class="note">${signIn.demoOnly}</p>`}
${demos.map((demo) => demoButtons(demo, next))}
<p class="leave"><a href="${paths.invitation}">${signIn.invited}</a></p>`;
  return { title: signIn.title, body, hasScript: true, status: refusal?.status ?? 200 };
}

/** Asks for the code of a command line. */
export function deviceCodeView({ code = '', isUnknown = false }): OperatorView {
  const { device } = texts;
  const body = html`<h1>${device.title}</h1>
<p class="lead">${device.lead}</p>
${isUnknown && html`<p class="alert" role="alert">${device.unknown}</p>`}
<form method="post" action="${paths.device}">
<label for="code">${device.code}</label>
<input id="code" name="code" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="20" autofocus>
<button>${device.submit}</button>
</form>`;
  return { title: device.title, body, status: isUnknown ? 422 : 200 };
}

/** Names the machine before anything happens (RFC 8628 section 5.4). */
export function deviceView(
  name: string,
  { request, machine, address, startedAt }: AskingDevice,
): OperatorView {
  const { device } = texts;
  const body = html`<h1>${device.asks}</h1>
<p class="lead">${device.acts(name)}</p>
<ul><li>${device.machine}: <strong>${machine}</strong></li>
${address !== null && html`<li>${device.address}: <strong>${address}</strong></li>`}
<li>${device.started}: <time datetime="${startedAt.toISOString()}">${momentOf(startedAt)}</time></li></ul>
<form method="post" action="${paths.decideDevice}">
<input type="hidden" name="request" value="${request}">
<button name="answer" value="approve">${device.approve}</button>
<button class="quiet" name="answer" value="deny">${device.deny}</button>
</form>`;
  return { title: device.asks, body };
}

export function deviceDoneView(isApproved: boolean): OperatorView {
  const { device } = texts;
  const body = html`<h1>${device.done}</h1><p class="lead">${isApproved ? device.approved : device.denied}</p>`;
  return { title: device.done, body };
}

/** Leads to the provider. */
export function leavingView(location: string): OperatorView {
  const { leaving } = texts;
  const body = html`<h1>${leaving.title}</h1>
<p class="lead">${leaving.lead}</p>
<p><a href="${location}">${leaving.link}</a></p>`;
  return { title: leaving.title, body, goesTo: location };
}

function demoButtons(demo: { readonly code: string; readonly name: string }, next: string): Html {
  return html`<fieldset><legend>${demo.name}</legend>
${demoOperators.map(
  ({ name }) => html`<form method="post" action="${paths.demo}">
<input type="hidden" name="institution" value="${demo.code}"><input type="hidden" name="next" value="${next}">
<button class="quiet" name="name" value="${name}">${texts.signIn.continueAs(name)}</button></form>
`,
)}</fieldset>`;
}

/** Asks for the code, which stays out of addresses and so out of logs and histories. */
export function invitationView({
  institution,
  refusal,
}: {
  readonly institution: string;
  readonly refusal?: string | undefined;
}): OperatorView {
  const { invitation } = texts;
  const body = html`<h1>${invitation.title}</h1>
<p class="lead">${invitation.lead}</p>
${refusal !== undefined && html`<p class="alert" role="alert">${refusal}</p>`}
<form method="post" action="${paths.invitation}">
<label for="institution">${invitation.institution}</label>
<input id="institution" name="institution" value="${institution}" autocomplete="organization" autocapitalize="none" spellcheck="false" required maxlength="64"${institution === '' && html` autofocus`}>
<label for="code">${invitation.code}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" required maxlength="100"${institution !== '' && html` autofocus`}>
<button>${invitation.submit}</button>
</form>`;
  return { title: invitation.title, body, status: refusal === undefined ? 200 : 422 };
}

export function enrollmentView({ brand, name, request, options }: EnrollmentPage): OperatorView {
  const { enrollment } = texts;
  const title = enrollment.title(name);
  const body = html`${brandMark(brand)}
<h1>${title}</h1>
<p class="lead">${enrollment.lead}</p>
${creationForm({ action: paths.enroll, request, options, submit: enrollment.submit })}`;
  return { title, body, hasScript: true, brandColor: brand.color };
}

export type PasskeysOutcome = keyof typeof texts.passkeys.outcomes;

export function passkeysView(
  { name, passkeys, request, options }: PasskeysPage,
  outcome?: PasskeysOutcome,
): OperatorView {
  const { passkeys: words } = texts;
  const isRefusal = outcome === 'refused' || outcome === 'only';
  const body = html`<h1>${words.title}</h1>
<p class="lead">${words.lead(name)}</p>
${outcome && html`<p class="${isRefusal ? 'alert' : 'done'}" role="${isRefusal ? 'alert' : 'status'}">${words.outcomes[outcome]}</p>`}
${passkeys.length === 0 && html`<p>${words.none}</p>`}
<ul class="rows">${passkeys.map(passkeyRow)}</ul>
${options === undefined && passkeys.length > 0 && html`<p class="note">${words.full}</p>`}
${options && creationForm({ action: paths.passkeys, request, options, submit: words.add })}
<p class="leave"><a href="/console">${words.console}</a></p>`;
  return { title: words.title, body, hasScript: true, status: isRefusal ? 422 : 200 };
}

function creationForm(form: {
  readonly action: string;
  readonly request: string;
  readonly options: object;
  readonly submit: string;
}): Html {
  const { enrollment, signIn } = texts;
  return html`<form method="post" action="${form.action}" hidden data-ceremony="create" data-options="${JSON.stringify(form.options)}">
<input type="hidden" name="request" value="${form.request}">
<input type="hidden" name="credential">
<label for="name">${enrollment.name}</label>
<input id="name" name="name" value="${enrollment.defaultName}" autocomplete="off" required maxlength="64">
<button>${form.submit}</button>
</form>
<noscript><p class="note">${signIn.needsScript}</p></noscript>`;
}

function passkeyRow({ passkeyId, name, isSynced, createdAt, lastUsedAt }: OwnPasskey): Html {
  const { passkeys: words } = texts;
  const used = lastUsedAt === null ? words.unused : words.used(dayOf(lastUsedAt));
  return html`<li><form method="post" action="${paths.removePasskey}">
<p><strong id="n-${passkeyId}">${name}</strong><br><span class="note">${isSynced ? words.synced : words.device} · ${words.added(dayOf(createdAt))} · ${used}</span></p>
<button class="quiet" name="passkey" value="${passkeyId}" aria-describedby="n-${passkeyId}">${words.remove}</button>
</form></li>`;
}

function momentOf(at: Date): string {
  const options = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${at.toLocaleString(texts.language, options)} UTC`;
}

function dayOf(at: Date): string {
  return at.toLocaleDateString(texts.language, { dateStyle: 'medium', timeZone: 'UTC' });
}
