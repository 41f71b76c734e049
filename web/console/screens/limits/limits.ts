import { useLoad } from '../../../common/load.ts';
import { addressOf, go } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { SelectField } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { type Limit, read } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { limitColumns } from './limits-of.ts';
import { shareUsed } from './share.ts';

const shares = ['50', '80', '90', '100'];

function nearColumns(): readonly Column<Limit>[] {
  const [, ...others] = limitColumns;
  return [
    {
      title: 'Counts',
      text: subjectWords,
      cell: (row) =>
        row.subjectId === null
          ? subjectWords(row)
          : html`${wordOf(row.subject)} <a href=${addressOfSubject(row)}>${row.subjectId}</a>`,
    },
    {
      title: 'Used of it',
      text: (row) => String(shareUsed(row)),
      cell: (row) => html`<${Share} of=${row} />`,
      isNumeric: true,
    },
    ...others,
  ];
}

function addressOfSubject({ subject, subjectId }: Limit): string {
  const isAccount = subject === 'ACCOUNT' || subject === 'STAND_IN_ACCOUNT';
  return isAccount
    ? addressOf('accounts', subjectId ?? '')
    : addressOf('search', undefined, { text: subjectId ?? '' });
}

/** The limits of the institution as a whole, and the members and accounts that have used most of theirs. The share stands in the address. */
export function LimitsScreen({ query }: { query: URLSearchParams }) {
  const percent = shares.find((one) => one === query.get('percent')) ?? '80';
  return html`<${Screen} title="Limits" lead="What is used in the present day or month of the institution.">
    ${
      may('members:read') &&
      html`<section class="card" aria-labelledby="near">
      <header><h2 id="near">Members and accounts near a limit</h2>
        <${SelectField} id="percent" label="At least" value=${percent} onValue=${(value: string) => go(addressOf('limits', undefined, { percent: value }))}
          options=${shares.map((value) => ({ value, label: `${value} % used` }))} />
      </header>
      <${Near} key=${percent} path="/limits/near" percent=${percent} caption="Near a limit" empty="Nobody has used so much of a limit." />
    </section>`
    }
    <section class="card" aria-labelledby="whole">
      <header><h2 id="whole">Limits of the institution as a whole</h2></header>
      <${Near} path="/limits" caption="Limits of the institution" empty="There is no limit on what completes while the core is away." />
    </section>
  <//>`;
}

interface NearProps {
  readonly path: string;
  readonly percent?: string;
  readonly caption: string;
  readonly empty: string;
}

function Near({ path, percent, caption, empty }: NearProps) {
  const { state, again } = useLoad(() => ask(() => read<readonly Limit[]>(path, { percent })), []);
  return html`<${Stateful} state=${state} subject="limits" again=${again}>
    ${(limits: readonly Limit[]) => html`<${Table} caption=${caption} columns=${nearColumns()} rows=${limits}
      empty=${empty} file="limits" keyOf=${({ limitKey, subjectId }: Limit) => `${limitKey} ${subjectId}`} />`}
  <//>`;
}

function subjectWords({ subject, subjectId }: Limit): string {
  return [wordOf(subject), subjectId].filter(Boolean).join(' ');
}

function Share({ of }: { of: Limit }) {
  const percent = shareUsed(of);
  const kind = percent >= 100 ? 'bad' : percent >= 80 ? 'warn' : undefined;
  return html`<span class="share" data-kind=${kind}>${percent} %
    <svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 8">
      <rect class="track" width="100" height="8" rx="1" /><rect class="filled" width=${Math.min(100, percent)} height="8" rx="1" />
    </svg></span>`;
}
