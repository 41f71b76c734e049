import { useEffect, useRef, useState } from 'preact/hooks';
import { useLive } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { type Column, Table } from '../../common/table.ts';
import { Amount, Badge, Empty, Loading, Notice } from '../../design/components.ts';
import { type Children, html } from '../../design/html.ts';
import { ageWords, durationOf, wordOf } from '../format.ts';
import { liveFigures } from '../live.ts';
import { Day, dayOf, Moment, ShortMoment, TimeOfDay } from '../moment.ts';
import { read, sentenceOf, type Today } from '../operations.ts';
import { ask, may } from '../session.ts';
import { Screen } from '../shell.ts';

/** Without a stream. The figures read the transfers of the day, so they are not asked for more often. */
const refreshSeconds = 10;
/** A stream has this time to deliver before the page asks. */
const patienceMillis = 1_500;
/** A webhook that is this far behind has missed its first attempts. */
const worthAColorSeconds = 60;

/** The day of the institution until now. Each figure leads to the rows that it counts. */
export function TodayScreen() {
  const isAsking = useAsking();
  const { value: asked, error: fault } = useLive(
    () => ask(() => read<Today>('/today')),
    refreshSeconds,
    isAsking,
  );
  const kept = useRef<Today | undefined>(undefined);
  kept.current = liveFigures.value ?? (isAsking ? asked : undefined) ?? kept.current;
  const today = kept.current;
  const error = isAsking ? fault : undefined;
  const lead = today && html`<${Day} at=${today.since} />, as of <${TimeOfDay} at=${today.at} />`;
  return html`<${Screen} title="Today" lead=${lead}>
    ${error !== undefined && html`<${Notice} kind="bad" title=${sentenceOf(error)}><p>The page tries again every ${refreshSeconds} seconds.</p><//>`}
    ${today === undefined && error === undefined && html`<${Loading} subject="the day" />`}
    ${today && html`<${Tiles} today=${today} /><div class="tiles" data-size="wide"><${PerMinute} today=${today} /><${Waiting} today=${today} /></div><${Moved} today=${today} /><${Declines} today=${today} />`}
  <//>`;
}

/** Whether no stream has delivered for some time. */
function useAsking(): boolean {
  const [isAsking, setAsking] = useState(false);
  const isLive = liveFigures.value !== undefined;
  useEffect(() => {
    if (isLive) return setAsking(false);
    const timer = setTimeout(() => setAsking(true), patienceMillis);
    return () => clearTimeout(timer);
  }, [isLive]);
  return isAsking && !isLive;
}

function Tiles({ today }: { today: Today }) {
  const { webhooks, reconcile, signIns, core } = today;
  const count = (rows: readonly { readonly transfers: number }[]) =>
    rows.reduce((sum, { transfers }) => sum + transfers, 0);
  const refused = signIns.find(({ outcome }) => outcome === 'refused')?.signIns ?? 0;
  const succeeded = signIns.find(({ outcome }) => outcome === 'succeeded')?.signIns ?? 0;
  const isBroken = (reconcile.findings ?? 0) > 0;
  return html`<div class="tiles">
    <${Tile} title="Transfers" figure=${count(today.moved)} screen="transfers" query=${dayFrom(today.since)} right="members:read" />
    <${Tile} title="Waiting" figure=${count(today.waiting)} screen="review" right="members:read" />
    <${Tile} title="Sign-ins" figure=${succeeded} screen="audit" query=${{ action: 'login', ...dayFrom(today.since) }} right="audit:read">${may('audit:read') ? html`<a href=${addressOf('audit', undefined, { action: 'login', outcome: 'refused', ...dayFrom(today.since) })}>${refused} refused</a>` : `${refused} refused`}<//>
    <${Tile} title="Webhooks" figure=${webhooks.endpoints} screen="webhooks" right="institution:read">
      ${webhooks.disabled > 0 && html`<${Badge} kind="warn">${webhooks.disabled} disabled<//> `}
      ${webhooks.failingSince ? html`<${Badge} kind="bad">failing since <${Moment} at=${webhooks.failingSince} /><//>` : 'none is failing'}; ${lagWords(webhooks)}
    <//>
    <${Tile} title="Core" figure=${core.heardAt ? durationOf(Math.max(0, Date.parse(today.at) - Date.parse(core.heardAt))) : '–'} screen=${core.heardAt ? 'breaks' : undefined} right="institution:read">
      ${core.heardAt ? 'since its last request' : 'has not connected'}${core.oldestUndeliveredAt && html` <${Badge} kind="warn">an order waits since <${Moment} at=${core.oldestUndeliveredAt} /><//>`}
    <//>
    <${Tile} title="Reconcile: findings" figure=${reconcile.findings ?? '–'} screen=${reconcile.finishedAt ? 'reconcile' : undefined} id=${reconcile.runId ?? undefined} right="institution:read">
      ${reconcile.finishedAt ? html`<${Badge} kind=${isBroken ? 'bad' : 'good'}>${isBroken ? 'rows are off' : 'in balance'}<//> <${Moment} at=${reconcile.finishedAt} />` : 'has not run yet'}
    <//>
  </div>`;
}

/** The period of the figures, as the fields of a search have it. */
function dayFrom(since: string) {
  const day = dayOf(since);
  return { since: day, until: day };
}

/** `3 events behind, 12 s`. An event on its way is no lag worth a color. */
function lagWords({ eventsBehind, lagSeconds }: Today['webhooks']): Children {
  if (eventsBehind === 0 || lagSeconds === null) return 'none is behind';
  const count = eventsBehind === 1 ? '1 event' : `${eventsBehind} events`;
  const words = `${count} behind, ${durationOf(Math.round(lagSeconds) * 1_000)}`;
  return lagSeconds < worthAColorSeconds ? words : html`<${Badge} kind="warn">${words}<//>`;
}

interface TileProps {
  readonly title: string;
  readonly figure: number | string;
  /** The screen with the rows behind the figure, and the right that it needs. */
  readonly screen?: string;
  /** Of the one thing that the screen shows. */
  readonly id?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly right?: string;
  readonly children?: Children;
}

function Tile({ title, figure, screen, id, query = {}, right = '', children }: TileProps) {
  const shown = screen && may(right) ? html`<a href=${addressOf(screen, id, query)}>${figure}</a>` : figure;
  return html`<section class="card tile" aria-label=${title}><div class="body">
    <h2>${title}</h2><p class="figure">${shown}</p>${children && html`<p class="quiet">${children}</p>`}
  </div></section>`;
}

/** Two bars for each minute of the last hour: now, and behind it the same minute of yesterday. */
function PerMinute({ today: { perMinute, at } }: { today: Today }) {
  const before = (hours: number) => new Date(Date.parse(at) - hours * 3_600_000).toISOString();
  const yesterday = { since: before(25), until: before(24) };
  const { lastHour, hourYesterday } = perMinute;
  const most = Math.max(1, ...[...lastHour, ...hourYesterday].map(({ transfers }) => transfers));
  const sum = (minutes: Today['perMinute']['lastHour']) =>
    minutes.reduce((total, { transfers }) => total + transfers, 0);
  const bars = (minutes: Today['perMinute']['lastHour'], name: string, width: number) =>
    minutes.map(({ minutesAgo, transfers }) => {
      const height = (transfers / most) * 40;
      return html`<rect key=${`${name} ${minutesAgo}`} class=${name} x=${(59 - minutesAgo) * 4} y=${40 - height} width=${width} height=${height} />`;
    });
  return html`<section class="card" aria-labelledby="per-minute">
    <header><h2 id="per-minute">Transfers per minute</h2></header>
    <div class="body">
      <svg class="minutes" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 240 40">${bars(hourYesterday, 'before', 4)}${bars(lastHour, 'now', 2)}</svg>
      <p class="quiet">${counted(sum(lastHour), { since: before(1) })} in the last hour, ${counted(sum(hourYesterday), yesterday)} in the same hour yesterday; at most ${most} in a minute</p>
    </div>
  </section>`;
}

/** Each reason with the number of its transfers in each band of age. The service says the age, by its own clock. */
function Waiting({ today: { waiting } }: { today: Today }) {
  const leading = (transfers: number, query: Readonly<Record<string, string>>) =>
    may('members:read') ? html`<a href=${addressOf('review', undefined, query)}>${transfers}</a>` : transfers;
  return html`<section class="card" aria-labelledby="waiting">
    <header><h2 id="waiting">Waiting, by reason and age</h2></header>
    ${waiting.length === 0 && html`<${Empty}>No transfer waits.<//>`}
    <ul class="list">${waiting.map(
      ({ heldFor, transfers, ages, oldestAt, nextDueAt }) => html`<li class="row" key=${heldFor}>
        <span class="first">${wordOf(heldFor)}</span><span>${leading(transfers, { heldFor })}</span>
        <span class="second">oldest <${ShortMoment} at=${oldestAt} /></span><span class="second">next due <${ShortMoment} at=${nextDueAt} /></span>
        <dl class="ages">${ages.map(
          ({ age, transfers: count }) =>
            html`<div key=${age} data-empty=${count === 0}><dt>${ageWords[age] ?? wordOf(age)}</dt><dd>${leading(count, { heldFor, age })}</dd></div>`,
        )}</dl>
      </li>`,
    )}</ul>
  </section>`;
}

type MovedRow = Today['moved'][number];
type DeclineRow = Today['declines'][number];

/** A count that leads to the transfers that it counts, for roles that may read them. */
function counted(transfers: number, query: Readonly<Record<string, string>>) {
  return may('members:read')
    ? html`<a href=${addressOf('transfers', undefined, query)}>${transfers}</a>`
    : transfers;
}

function Moved({ today: { moved, since } }: { today: Today }) {
  const columns: Column<MovedRow>[] = [
    { title: 'Type', text: ({ transferType }) => wordOf(transferType) || 'None' },
    { title: 'Status', text: ({ status }) => wordOf(status) },
    {
      title: 'Transfers',
      text: ({ transfers }) => String(transfers),
      cell: ({ transfers, status, transferType }) =>
        counted(transfers, { ...dayFrom(since), status, ...(transferType !== null && { transferType }) }),
      isNumeric: true,
    },
    {
      title: 'Amount',
      text: ({ amount }) => amount,
      cell: ({ amount, currency }) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
      isNumeric: true,
    },
  ];
  return html`<section class="card" aria-labelledby="moved">
    <header><h2 id="moved">Money by type</h2></header>
    <${Table} caption="Money by type" columns=${columns} rows=${moved} file="today" empty="No transfer yet."
      keyOf=${({ transferType, status, currency }: MovedRow) => `${transferType} ${status} ${currency}`} />
  </section>`;
}

function Declines({ today: { declines, since } }: { today: Today }) {
  const columns: Column<DeclineRow>[] = [
    { title: 'Reason', text: ({ failureCode }) => wordOf(failureCode) || 'None' },
    {
      title: 'Transfers',
      text: ({ transfers }) => String(transfers),
      cell: ({ transfers, failureCode }) =>
        counted(transfers, { since, status: 'FAILED', ...(failureCode !== null && { failureCode }) }),
      isNumeric: true,
    },
  ];
  return html`<section class="card" aria-labelledby="declines">
    <header><h2 id="declines">Failed, by reason</h2></header>
    <${Table} caption="Failed, by reason" columns=${columns} rows=${declines} file="failed" empty="No transfer failed."
      keyOf=${({ failureCode }: DeclineRow) => failureCode ?? ''} />
  </section>`;
}
