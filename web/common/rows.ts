import { Component, type ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from '../design/html.ts';
import type { Column } from './table.ts';

/* The rows of a long table. Only those near the window are drawn, so a ledger scrolls as smoothly after a million entries as at its start. */

/** So few that a slow machine draws them within 50 ms (bench/NOTES.md). */
const groupSize = 10;
/** Rows that are drawn at once: more than a window has. */
const mostAtOnce = 40;
/** A table of no more rows is drawn wherever it is, so that the search of the browser finds each. */
const mostWhole = 100;
/** Rows this far above and below the window are drawn already. */
const margin = '150% 0px';
/** In pixels, until a row is measured. */
const usualHeight = 36;

interface GroupProps<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The current row, if it is one of these. */
  readonly current: string | undefined;
  /** The group is drawn at once: by its rows the columns get their widths. */
  readonly isFirst: boolean;
  /** The group is drawn wherever it is. */
  readonly isWhole: boolean;
  /** In pixels, as far as it is known. */
  readonly rowHeight: { current: number };
}

/** Consecutive groups. A group of the same rows is the same array as before, and is not drawn again. */
export function useGroups<Row>(rows: readonly Row[]) {
  const kept = useRef<readonly (readonly Row[])[]>([]);
  const rowHeight = useRef(usualHeight);
  kept.current = Array.from({ length: Math.ceil(rows.length / groupSize) }, (_, at) => {
    const group = rows.slice(at * groupSize, (at + 1) * groupSize);
    const before = kept.current[at];
    const isSame = before?.length === group.length && before.every((row, index) => row === group[index]);
    return isSame ? before : group;
  });
  return kept.current.map((group, at) => ({
    rows: group,
    isFirst: (at + 1) * groupSize <= mostAtOnce,
    isWhole: rows.length <= mostWhole,
    rowHeight,
  }));
}

/** Draws again only if a property has changed. */
export class Group<Row> extends Component<GroupProps<Row>> {
  override shouldComponentUpdate(next: GroupProps<Row>): boolean {
    const { props } = this;
    return (
      props.rows !== next.rows ||
      props.columns !== next.columns ||
      props.current !== next.current ||
      props.isWhole !== next.isWhole
    );
  }

  override render(props: GroupProps<Row>): ComponentChild {
    return html`<${DrawnNearby} ...${props} />`;
  }
}

/** Far from the window, one empty row of the same height stands for the group. */
function DrawnNearby<Row>(props: GroupProps<Row>) {
  const { rows, columns, keyOf, current, isFirst, isWhole, rowHeight } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [height, setHeight] = useState(isFirst ? undefined : rows.length * rowHeight.current);
  useEffect(() => {
    const element = body.current;
    if (element === null) return;
    const draw = () => setHeight(undefined);
    if (isWhole) {
      drawInTurn(element, draw);
      return () => waiting.delete(element);
    }
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry === undefined) return;
        if (entry.isIntersecting) return drawInTurn(element, draw);
        waiting.delete(element);
        setHeight(entry.boundingClientRect.height);
        rowHeight.current = entry.boundingClientRect.height / rows.length;
      },
      { rootMargin: margin },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      waiting.delete(element);
    };
  }, [isWhole, rows]);
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

/** Groups that are not drawn yet, each with the function that draws it. */
const waiting = new Map<Element, () => void>();
let isDrawing = false;

/** Draws one group a frame, that nearest to the middle of the window first. All in one frame would hold the scrolling up. */
function drawInTurn(element: Element, draw: () => void): void {
  waiting.set(element, draw);
  if (!isDrawing) requestAnimationFrame(drawNearest);
  isDrawing = true;
}

function drawNearest(): void {
  const [nearest] = [...waiting].toSorted(([one], [other]) => distanceOf(one) - distanceOf(other));
  isDrawing = nearest !== undefined;
  if (nearest === undefined) return;
  const [element, draw] = nearest;
  waiting.delete(element);
  draw();
  requestAnimationFrame(drawNearest);
}

function distanceOf(element: Element): number {
  const { top, bottom } = element.getBoundingClientRect();
  return Math.abs(top + bottom - innerHeight);
}

/** The widths that the columns of a long table have at first, so that they stay the same whichever rows are drawn. */
export function useWidths(rows: number) {
  const isLong = rows > mostAtOnce;
  const table = useRef<HTMLTableElement>(null);
  const [widths, setWidths] = useState<readonly number[]>();
  useEffect(() => {
    const frame = table.current?.parentElement;
    if (!isLong || !table.current || !frame) return;
    const heads = [...table.current.querySelectorAll<HTMLElement>('thead th')];
    if (widths === undefined) setWidths(heads.map((head) => head.getBoundingClientRect().width));
    const { clientWidth } = frame;
    const observer = new ResizeObserver(() => {
      if (frame.clientWidth !== clientWidth) setWidths(undefined);
    });
    observer.observe(frame);
    return () => observer.disconnect();
  }, [isLong, widths]);
  return { table, widths };
}
