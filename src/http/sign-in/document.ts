import { type Html, html } from '../../shared/text/html.ts';
import { scriptUrl } from './script.ts';
import { styleUrl } from './style.ts';

/** A page that the service writes, for members or for operators. */
interface PageText {
  readonly language: string;
  readonly title: string;
  readonly body: Html;
  /** The page loads the module of passkeys. */
  readonly hasScript: boolean;
  /** The style sheet with the color of the institution. */
  readonly brandStyle?: string | undefined;
  /** The browser goes on there by itself. */
  readonly goesTo?: string | undefined;
}

export function documentOf({ language, title, body, hasScript, brandStyle, goesTo }: PageText): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styleUrl}">
${brandStyle !== undefined && html`<link rel="stylesheet" href="${brandStyle}">`}
${goesTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${goesTo}">`}
${hasScript && html`<script type="module" src="${scriptUrl}"></script>`}
</head>
<body>
<main>${body}
</main>
</body>
</html>
`.text;
}

/** The content security policy of such a page. `formTarget`: another origin to which its form may lead. */
export function policyOf({
  hasScript = false,
  formTarget,
}: {
  readonly hasScript?: boolean | undefined;
  readonly formTarget?: string | undefined;
}): string {
  const script = hasScript ? `script-src 'self'; require-trusted-types-for 'script'; ` : '';
  const target = formTarget === undefined ? '' : ` ${formTarget}`;
  return `default-src 'none'; ${script}style-src 'self'; img-src 'self'; form-action 'self'${target}; base-uri 'none'; frame-ancestors 'none'`;
}
