import { Button, TextField } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { dayOf, institutionZone } from '../moment.ts';
import { choicesOn, edgeOf, lacksDay, valueOfEdge, wordsOfPeriod } from './edge.ts';

/** The values of the address; empty for an open end. */
export interface Period {
  readonly since: string;
  readonly until: string;
}

export const anyTime: Period = { since: '', until: '' };

interface PeriodFieldsProps extends Period {
  readonly fault: string | undefined;
  readonly onPeriod: (period: Period) => void;
  /** A choice of one press, which searches at once. */
  readonly onChoose: (period: Period) => void;
}

/** The beginning and the end of a search on the institution's clocks, each a day and perhaps a time. An end that nobody changes keeps its value. */
export function PeriodFields({ since, until, fault, onPeriod, onChoose }: PeriodFieldsProps) {
  const timeZone = institutionZone();
  const choices = choicesOn(dayOf()).map(({ label, days }) => ({ label, since: days[0], until: days[1] }));
  const ends = [
    { name: 'since', label: 'From', value: since },
    { name: 'until', label: 'To', value: until },
  ] as const;
  const period = { since, until };
  return html`<fieldset class="period">
    <legend>Period, in the time of ${timeZone}</legend>
    ${ends.map(({ name, label, value }) => {
      const edge = edgeOf(value, timeZone);
      const set = (part: 'day' | 'time') => (typed: string) =>
        onPeriod({ ...period, [name]: valueOfEdge({ ...edge, [part]: typed }) });
      return html`<${TextField} key=${name} id=${`${name}-day`} label=${`${label} day`} type="date" value=${edge.day} onValue=${set('day')}
          fault=${name === 'since' ? fault : undefined} />
        <${TextField} key=${`${name} time`} id=${`${name}-time`} label=${`${label} time`} type="time" value=${edge.time} onValue=${set('time')} />`;
    })}
    <div class="quick">${[...choices, { label: 'Any time', ...anyTime }].map(
      ({ label, ...days }) =>
        html`<${Button} key=${label} kind="text" isPressed=${days.since === since && days.until === until} onPress=${() => onChoose(days)}>${label}<//>`,
    )}</div>
  </fieldset>`;
}

/** The fault of the fields of a form; undefined for sound ones. */
export function periodFault(form: HTMLFormElement, { since, until }: Period): string | undefined {
  if (lacksDay(since) || lacksDay(until)) return 'Choose the day of the time.';
  // The value of a field that is filled in half is empty.
  const isHalf = [...form.querySelectorAll('input')].some(({ validity }) => validity.badInput);
  return isHalf ? 'Complete the day and the time, or clear them.' : undefined;
}

interface EmptyPeriodProps extends Period {
  /** Like `No transfer fits the search`. */
  readonly words: string;
  readonly onAnyTime: () => void;
}

/** The place of a list that is empty: which period has nothing, and the way out of it. */
export function EmptyPeriod({ words, since, until, onAnyTime }: EmptyPeriodProps) {
  const when = wordsOfPeriod(since, until, { timeZone: institutionZone() });
  if (when === '') return html`${words}.`;
  return html`${words} ${when}. <${Button} kind="text" onPress=${onAnyTime}>Search any time<//>`;
}
