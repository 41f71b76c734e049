import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { currentPlace, type Place } from '../common/router.ts';
import { Button, Loading, Notice } from '../design/components.ts';
import { html } from '../design/html.ts';
import '../design/theme.ts';
import { watchEnd } from './ending.ts';
import type { LazyScreen } from './lazy.ts';
import { followLive } from './live.ts';
import { sentenceOf } from './operations.ts';
import { screenAt } from './screens.ts';
import { may, session, start, toSignIn } from './session.ts';
import { firstScreen, NotAllowed, rightOf, Screen, Shell } from './shell.ts';

const root = document.querySelector('#root') as HTMLElement;

function Console() {
  if (session.value === undefined) return html`<${Loading} subject="the console" />`;
  if (session.value === null) return html`<${Welcome} />`;
  const { screen } = currentPlace();
  return html`<${Shell} screen=${screen || firstScreen()}><${Current} /><//>`;
}

function Current() {
  const place = currentPlace();
  const screen = place.screen || firstScreen();
  if (!may(rightOf(screen, place.id))) return html`<${NotAllowed} />`;
  const found = screenAt({ ...place, screen });
  if (found === undefined) return html`<${Screen} title="There is no such screen" />`;
  return html`<${Lazy} key=${`${screen} ${place.id === undefined}`} screen=${found} place=${place} />`;
}

function Lazy({ screen, place }: { screen: LazyScreen; place: Place }) {
  useEffect(() => screen.prepare(), [screen]);
  const state = screen.state.value;
  if (state.kind === 'ready') return html`${state.value(place)}`;
  if (state.kind === 'loading') return html`<${Loading} subject="the screen" />`;
  // Browsers may remember that a module failed, and a newer version of the service has other addresses: a new document knows both.
  return html`<${Screen} title="This screen could not be loaded">
    <${Notice} kind="bad" title="The connection broke, or the service has a newer version by now." />
    <div class="actions"><${Button} kind="quiet" onPress=${() => location.reload()}>Load the page again<//></div>
  <//>`;
}

function Welcome() {
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <h1>Console</h1>
    <p class="quiet">For the people who run an institution. Each act stands in the audit under your name.</p>
    <${Button} onPress=${toSignIn}>Sign in<//>
  </div></div></main>`;
}

function Failed({ error }: { error: unknown }) {
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <h1>Console</h1>
    <${Notice} kind="bad" title=${sentenceOf(error)} />
    <${Button} onPress=${() => location.reload()}>Try again<//>
  </div></div></main>`;
}

document.documentElement.dataset.density = 'compact';
render(html`<${Console} />`, root);
// Beside the question for the session, so that neither waits for the other.
screenAt(currentPlace())?.prepare();
start().then(
  () => {
    followLive();
    watchEnd();
  },
  (error) => render(html`<${Failed} error=${error} />`, root),
);
