import { Component, type ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from '../design/html.ts';
import type { Column } from './table.ts';

/* The rows of a long table. Only those near the window are drawn, so a ledger scrolls as smoothly after a million entries as at its start. */

const groupSize = 100;
/** Rows this far above and below the window are drawn already. */
const margin = '150% 0px';

interface GroupProps<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The current row, if it is one of these. */
  readonly current: string | undefined;
  /** A short table is drawn whole. */
  readonly isAlone: boolean;
}

/** Consecutive groups. A group of the same rows is the same array as before, and is not drawn again. */
export function useGroups<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const kept = useRef<readonly (readonly Row[])[]>([]);
  kept.current = Array.from({ length: Math.ceil(rows.length / groupSize) }, (_, at) => {
    const group = rows.slice(at * groupSize, (at + 1) * groupSize);
    const before = kept.current[at];
    const isSame = before?.length === group.length && before.every((row, index) => row === group[index]);
    return isSame ? before : group;
  });
  return kept.current;
}

/** Draws again only if a property has changed. */
export class Group<Row> extends Component<GroupProps<Row>> {
  override shouldComponentUpdate(next: GroupProps<Row>): boolean {
    const { props } = this;
    return (
      props.rows !== next.rows ||
      props.columns !== next.columns ||
      props.current !== next.current ||
      props.isAlone !== next.isAlone
    );
  }

  override render(props: GroupProps<Row>): ComponentChild {
    return html`<${DrawnNearby} ...${props} />`;
  }
}

/** Far from the window, one empty row of the same height stands for the group. */
function DrawnNearby<Row>({ rows, columns, keyOf, current, isAlone }: GroupProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const element = body.current;
    if (element === null || isAlone) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry && setHeight(entry.isIntersecting ? undefined : element.offsetHeight),
      { rootMargin: margin },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isAlone]);
  if (height !== undefined && current === undefined) {
    return html`<tbody ref=${body} aria-hidden="true"><tr style=${{ height: `${height}px` }}><td colspan=${columns.length}></td></tr></tbody>`;
  }
  return html`<tbody ref=${body} role="rowgroup">${rows.map(
    (row) => html`<tr key=${keyOf(row)} role="row" data-current=${keyOf(row) === current}>
      ${columns.map(
        ({ title, cell, text, isNumeric, isLong, isActs }) =>
          html`<td key=${title} role="cell" data-label=${title} data-numeric=${isNumeric} data-long=${isLong} data-acts=${isActs}><div class="value">${cell ? cell(row) : text(row)}</div></td>`,
      )}
    </tr>`,
  )}</tbody>`;
}

/** The widths that the columns of a long table have at first, so that they stay the same whichever rows are drawn. */
export function useWidths(isLong: boolean) {
  const table = useRef<HTMLTableElement>(null);
  const [widths, setWidths] = useState<readonly number[]>();
  useEffect(() => {
    const frame = table.current?.parentElement;
    if (!isLong || !table.current || !frame) return;
    const heads = [...table.current.querySelectorAll<HTMLElement>('thead th')];
    if (widths === undefined) setWidths(heads.map(({ offsetWidth }) => offsetWidth));
    const { clientWidth } = frame;
    const observer = new ResizeObserver(() => {
      if (frame.clientWidth !== clientWidth) setWidths(undefined);
    });
    observer.observe(frame);
    return () => observer.disconnect();
  }, [isLong, widths]);
  return { table, widths };
}
