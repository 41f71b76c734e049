import { useEffect, useRef } from 'preact/hooks';
import { Stateful as AnyStateful, type Loaded } from '../common/load.ts';
import { addressOf } from '../common/router.ts';
import { type Children, html } from '../design/html.ts';
import { Icon, type IconName } from '../design/icons.ts';
import { sentenceOf } from './bank.ts';
import { brand } from './brand.ts';

const links: readonly { readonly screen: IconName; readonly label: string }[] = [
  { screen: 'accounts', label: 'Accounts' },
  { screen: 'transfer', label: 'Transfer' },
  { screen: 'spending', label: 'Spending' },
  { screen: 'alerts', label: 'Alerts' },
  { screen: 'security', label: 'Security' },
];

/** The frame of every screen: links at the bottom of a phone, at the side of a wider window. */
export function Shell({ screen, children }: { screen: string; children?: Children }) {
  return html`<div class="shell">
    <nav class="links" aria-label="Main">
      <p class="brand">${brand.name}</p>
      <ul>${links.map(
        (
          link,
        ) => html`<li key=${link.screen}><a href=${addressOf(link.screen)} aria-current=${link.screen === screen ? 'page' : undefined}>
          <${Icon} name=${link.screen} /><span>${link.label}</span>
        </a></li>`,
      )}</ul>
    </nav>
    <main>${children}</main>
  </div>`;
}

interface ScreenProps {
  readonly title: string;
  readonly lead?: string | undefined;
  /** The screen above this one. */
  readonly back?: string;
  readonly children?: Children;
}

/** The heading takes the focus when the screen appears, so that a screen reader begins there. */
export function Screen({ title, lead, back, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  return html`<div class="screen">
    <header>
      ${back && html`<a class="back" href=${addressOf(back)}><${Icon} name="back" /><span>Back</span></a>`}
      <h1 tabindex="-1" ref=${heading}>${title}</h1>
      ${lead && html`<p class="quiet">${lead}</p>`}
    </header>
    ${children}
  </div>`;
}

interface StatefulProps<Value> {
  readonly state: Loaded<Value>;
  readonly subject: string;
  readonly again: () => void;
  readonly children: (value: Value) => Children;
}

export function Stateful<Value>(props: StatefulProps<Value>) {
  return html`<${AnyStateful} ...${props} sentenceOf=${sentenceOf} />`;
}
