import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Badge, Button, Notice, SelectField, TextField } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton, ActDialog } from '../../act.ts';
import { longDay } from '../../format.ts';
import { act, type CalendarDay, type DayChange, read } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { Proposals } from '../review/proposals.ts';

const columns: readonly Column<CalendarDay>[] = [
  {
    title: 'Day',
    text: ({ day }) => day,
    cell: ({ day }) => html`<time datetime=${day}>${longDay(day)}</time>`,
  },
  {
    title: 'Business',
    text: ({ open }) => (open ? 'Open' : 'Closed'),
    cell: ({ open }) => html`<${Badge} kind=${open ? 'good' : undefined}>${open ? 'Open' : 'Closed'}<//>`,
  },
  {
    title: 'By',
    text: ({ source }) => (source === 'institution' ? 'The institution' : source),
  },
];

/** Under dual control another person does the same once more. */
async function change(day: string, open: boolean | null, reason: string): Promise<string> {
  const { outcome } = await act<DayChange>('/calendar', { day, open, reason });
  if (outcome === 'PROPOSED') return `${longDay(day)}: noted. Another person must do the same.`;
  return outcome === 'DONE' ? `${longDay(day)}: the change is made.` : `${longDay(day)} was so already.`;
}

/** The weekdays of this year without business, and the exceptions of the institution. */
export function Calendar() {
  const { state, again, refresh } = useLoad(() => ask(() => read<readonly CalendarDay[]>('/calendar')), []);
  const [result, setResult] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const mayChange = may('institution:change');
  const done = (words: string) => {
    setResult(words);
    void refresh();
  };
  const acts: Column<CalendarDay> = {
    title: 'Acts',
    text: () => '',
    isActs: true,
    cell: ({ day, source }) =>
      source === 'institution' &&
      html`<div class="actions"><${ActButton} act=${endOf(day)} onDone=${done} /></div>`,
  };
  return html`<${Proposals} key=${result} type="RULES" onDone=${() => void refresh()} />
  <section class="card" aria-labelledby="calendar">
    <header><h2 id="calendar">Days without business</h2>
      ${mayChange && html`<${Button} kind="quiet" onPress=${() => setOpen(true)}>Open or close a day<//>`}
      ${isOpen && html`<${DayDialog} onDone=${done} onClose=${() => setOpen(false)} />`}
    </header>
    ${result && html`<div class="body"><${Notice} title=${result} /></div>`}
    <${Stateful} state=${state} subject="the calendar" again=${again}>
      ${(
        days: readonly CalendarDay[],
      ) => html`<${Table} caption="Days without business" columns=${mayChange ? [...columns, acts] : columns}
        rows=${days} keyOf=${({ day }: CalendarDay) => day} file="calendar" empty="No weekday of this year is without business." />`}
    <//>
  </section>`;
}

function endOf(day: string): Act<string> {
  return {
    verb: 'End the exception',
    effect: `${longDay(day)} is again as the Federal Reserve has it.`,
    run: (reason) => change(day, null, reason),
  };
}

function DayDialog({ onDone, onClose }: { onDone: (words: string) => void; onClose: () => void }) {
  const [day, setDay] = useState('');
  const [open, setOpen] = useState('false');
  const [wasChecked, setChecked] = useState(false);
  const fault = day === '' ? 'Choose the day.' : undefined;
  const changeDay: Act<string> = {
    verb: 'Open or close a day',
    effect: 'Transfers that wait for a business day settle by the new calendar.',
    check() {
      setChecked(true);
      return fault && 'day';
    },
    run: (reason) => change(day, open === 'true', reason),
  };
  return html`<${ActDialog} act=${changeDay} onDone=${onDone} onClose=${onClose}>
    <${TextField} id="day" label="Day" type="date" value=${day} onValue=${setDay} fault=${wasChecked ? fault : undefined} />
    <${SelectField} id="open" label="The institution is" value=${open} onValue=${setOpen}
      options=${[{ value: 'false', label: 'closed' }, { value: 'true', label: 'open' }]} />
  <//>`;
}
