import { useLoad } from '../../../common/load.ts';
import { html } from '../../../design/html.ts';
import { Moment } from '../../moment.ts';
import { read, type SystemFacts } from '../../operations.ts';
import { ask } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { Work } from './work.ts';

const whole = new Intl.NumberFormat();
const listed = (names: readonly string[]) => names.join(', ') || 'none';

/** Versions, the state of the database, and the queues. */
export function System() {
  const { state, again } = useLoad(() => ask(() => read<SystemFacts>('/system')), []);
  return html`<section class="card" aria-labelledby="system">
    <header><h2 id="system">System</h2></header>
    <${Stateful} state=${state} subject="system" again=${again}>
      ${({ version, node, database, work }: SystemFacts) => html`<div class="body split">
        <dl class="facts">
          <div><dt>Sharedraft</dt><dd>${version}</dd></div>
          <div><dt>Node</dt><dd>${node}</dd></div>
          <div><dt>PostgreSQL</dt><dd>${database.serverVersion}</dd></div>
          <div><dt>Clock of the database</dt><dd><${Moment} at=${database.now} /></dd></div>
          <div><dt>Connection to the database</dt><dd>${database.isEncrypted ? 'encrypted' : 'not encrypted'}</dd></div>
          <div><dt>Connections of the service</dt><dd>${whole.format(database.serviceConnections)}</dd></div>
        </dl>
        <dl class="facts">
          <div><dt>Oldest transaction id</dt><dd>${whole.format(database.transactionAge)} transactions ago</dd></div>
          <div><dt>Oldest multixact id</dt><dd>${whole.format(database.multixactAge)} ago</dd></div>
          <div><dt>Longest open transaction</dt><dd>${whole.format(database.longestTransactionSeconds)} s</dd></div>
          <div><dt>Prepared transactions</dt><dd>${whole.format(database.preparedTransactions)}</dd></div>
          <div><dt>Invalid indexes</dt><dd>${listed(database.invalidIndexes)}</dd></div>
          <div><dt>Bloated tables</dt><dd>${listed(database.bloatedTables)}</dd></div>
        </dl>
      </div>
      <${Work} work=${work} />`}
    <//>
  </section>`;
}
