import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import type { WorkFigures } from '../../operations.ts';

const whole = new Intl.NumberFormat();

function countSpread({ half, most }: NonNullable<WorkFigures['batchOrders']>): string {
  const bound = (value: number | null) =>
    value === null ? 'more than 256' : `at most ${whole.format(value)}`;
  return `half have ${bound(half)}, 99 of 100 ${bound(most)}`;
}

function timeSpread({ half, most }: NonNullable<WorkFigures['waitSeconds']>): string {
  const bound = (value: number | null) =>
    value === null ? 'longer than 10 s' : `at most ${whole.format(value * 1000)} ms`;
  return `half wait ${bound(half)}, 99 of 100 ${bound(most)}`;
}

/** Queues and batches of all processes. Without metrics the service counts none. */
export function Work({ work }: { work: WorkFigures | null }) {
  if (work === null)
    return html`<p class="body quiet">Queues and batches are not measured: the service runs without METRICS_PORT.</p>`;
  return html`<div class="body"><dl class="facts">
    ${work.queues.map(
      ({ queue, waiting, capacity }) =>
        html`<div key=${queue}><dt>Queue: ${wordOf(queue).toLowerCase()}</dt><dd>${whole.format(waiting)} of at most ${whole.format(capacity)} wait</dd></div>`,
    )}
    <div><dt>Lanes of batches</dt><dd>${work.lanesBusy} of ${work.lanes} run</dd></div>
    <div><dt>Orders in a batch</dt><dd>${work.batchOrders === null ? 'no batch yet' : countSpread(work.batchOrders)}</dd></div>
    <div><dt>Wait of an order</dt><dd>${work.waitSeconds === null ? 'no batch yet' : timeSpread(work.waitSeconds)}</dd></div>
  </dl></div>`;
}
