import type { Step } from '../../auth/index.ts';
import { type Html, html } from '../../shared/text/html.ts';
import { brandMark } from './brand.ts';
import { qrPath } from './qr-code.ts';
import { texts } from './texts.ts';
import { page, paths, signOutLink, type View } from './views.ts';

/** The second step of a sign-in by password. Both forms work without JavaScript. */
export function codeView(step: Extract<Step, { kind: 'code' }>): View {
  const { code } = texts;
  const hidden = html`<input type="hidden" name="request" value="${step.request}">`;
  const body = html`
${brandMark(step.brand)}
<h1>${code.title}</h1>
<p class="lead">${code.lead(step.brand.name)}</p>
${step.isRefused && html`<p class="alert" role="alert">${code.refused}</p>`}
<form method="post" action="${paths.codeSignIn}">
${hidden}
<label for="code">${code.code}</label>
<input id="code" name="code" autocomplete="one-time-code" inputmode="numeric" required maxlength="16" autofocus>
<button>${code.submit}</button>
</form>
<details>
<summary>${code.recoverySummary}</summary>
<form method="post" action="${paths.codeSignIn}">
${hidden}
<label for="recovery">${code.recoveryCode}</label>
<input id="recovery" name="recovery" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="64">
<button class="quiet">${code.submit}</button>
</form>
</details>
<p class="note">${code.lost(step.brand.name)}</p>`;
  return {
    ...page(`${code.title} · ${step.brand.name}`, body, { brand: step.brand }),
    status: step.isRefused ? 401 : 200,
    leadsTo: step.redirectUri,
  };
}

/** The secret for an authenticator app: to scan, to open and to type. */
export function authenticatorView(step: Extract<Step, { kind: 'authenticator' }>): View {
  const { authenticator } = texts;
  const body = html`
${brandMark(step.brand)}
<h1>${authenticator.title}</h1>
<p class="lead">${authenticator.lead}</p>
${step.isRefused && html`<p class="alert" role="alert">${authenticator.refused}</p>`}
<p>${authenticator.scan}</p>
${picture(step.keyUri)}
<p><a href="${step.keyUri}">${authenticator.open}</a></p>
<p>${authenticator.type}</p>
<p><code>${step.secret}</code></p>
<form method="post" action="${paths.confirmAuthenticator}">
<input type="hidden" name="request" value="${step.request}">
<label for="code">${authenticator.code}</label>
<input id="code" name="code" autocomplete="one-time-code" inputmode="numeric" required maxlength="16">
<label for="name">${authenticator.name}</label>
<input id="name" name="name" value="${step.name ?? authenticator.defaultName}" autocomplete="off" required maxlength="64">
<button>${authenticator.submit}</button>
</form>
${signOutLink}`;
  const view = page(`${authenticator.title} · ${step.brand.name}`, body, { brand: step.brand });
  return { ...view, status: step.isRefused ? 422 : 200 };
}

/** The only showing of the codes. */
export function recoveryCodesView(step: Extract<Step, { kind: 'recovery_codes' }>): View {
  const { recoveryCodes } = texts;
  const body = html`
${brandMark(step.brand)}
<h1>${recoveryCodes.title}</h1>
<p class="lead" role="status">${step.isFirst ? recoveryCodes.first : recoveryCodes.anew}</p>
<p>${recoveryCodes.about}</p>
<ol class="codes" aria-label="${recoveryCodes.list}">${step.codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<p><a href="${paths.security}?client_id=${encodeURIComponent(step.clientId)}">${recoveryCodes.back}</a></p>
${signOutLink}`;
  return page(`${recoveryCodes.title} · ${step.brand.name}`, body, { brand: step.brand });
}

/** Dark on light in every color scheme, with the light frame of four modules that readers need. */
function picture(uri: string): Html | undefined {
  const code = qrPath(uri);
  // Of an institution with a very long name: the link and the text are enough.
  if (code === undefined) return undefined;
  const { path, width } = code;
  const framed = `-4 -4 ${width + 8} ${width + 8}`;
  return html`<svg class="qr" viewBox="${framed}" role="img" aria-label="${texts.authenticator.picture}" shape-rendering="crispEdges"><rect x="-4" y="-4" width="${width + 8}" height="${width + 8}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
