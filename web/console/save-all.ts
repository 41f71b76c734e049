import { useEffect, useRef, useState } from 'preact/hooks';
import { SignedOutError } from '../common/signed-out-error.ts';
import { type Column, saveRows } from '../common/table.ts';
import { Button, Notice } from '../design/components.ts';
import { html } from '../design/html.ts';
import { type Page, sentenceOf } from './operations.ts';
import { countOf, mostRows, readAll } from './read-all.ts';

interface SaveAllProps<Row> {
  /** The name of the file. */
  readonly file: string;
  readonly columns: readonly Column<Row>[];
  readonly readPage: (after: string | undefined) => Promise<Page<Row>>;
  /** The order of the page, if it is not that of the service. */
  readonly arrange: (rows: readonly Row[]) => readonly Row[];
}

interface State {
  /** Undefined: nothing was saved yet. */
  readonly words?: string;
  readonly isReading?: boolean;
  readonly isFault?: boolean;
}

/** Saves all rows of a list, not only those that were read for the screen. The reading can be stopped, and ends with the page. */
export function SaveAll<Row>({ file, columns, readPage, arrange }: SaveAllProps<Row>) {
  const [{ words, isReading = false, isFault = false }, setState] = useState<State>({});
  const reading = useRef<object | undefined>(undefined);
  const end = () => {
    reading.current = undefined;
  };
  useEffect(() => end, []);
  const save = async () => {
    const own = {};
    reading.current = own;
    const isStopped = () => reading.current !== own;
    const progress = (rows: number) =>
      setState({
        isReading: true,
        words: `Reading all rows: ${countOf(rows)} of at most ${countOf(mostRows)}`,
      });
    progress(0);
    try {
      const read = await readAll({ readPage, most: mostRows, isStopped, onRows: progress });
      if (read === undefined) return;
      saveRows(`${file}.csv`, columns, arrange(read.rows));
      setState({
        words: read.isCut
          ? `The file has the first ${countOf(mostRows)} rows. Narrow the search to save the others.`
          : `The file has all ${countOf(read.rows.length)} rows.`,
      });
    } catch (error) {
      if (isStopped() || error instanceof SignedOutError) return;
      setState({ isFault: true, words: `${sentenceOf(error)} No file was saved.` });
    }
  };
  const stop = () => {
    end();
    setState({ words: 'Stopped. No file was saved.' });
  };
  return html`<div class="table-foot saving">
    <${Button} kind="text" isBusy=${isReading} onPress=${save}>Save all as CSV<//>
    ${isReading && html`<${Button} kind="text" onPress=${stop}>Stop<//>`}
    <span class="quiet" role="status">${isFault ? '' : words}</span>
    ${isFault && html`<${Notice} kind="bad" title=${words} />`}
  </div>`;
}
