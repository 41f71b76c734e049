import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import type { Flow } from '../../operations.ts';
import { type Bar, layoutOf } from './flow-layout.ts';

/** In the units of the picture. */
const [width, barWidth] = [720, 14];

/** A Sankey picture of the flows of one currency. The table beside it has the same figures for those who do not see it. */
export function FlowPicture({ flows }: { flows: readonly Flow[] }) {
  const { sources, targets, bands, height } = layoutOf(flows);
  const [left, right, middle] = [barWidth, width - barWidth, width / 2];
  return html`<svg class="flows" aria-hidden="true" viewBox=${`0 0 ${width} ${height}`}>
    ${bands.map(({ key, fromY, toY, height: high }) => {
      const top = `M${left},${fromY} C${middle},${fromY} ${middle},${toY} ${right},${toY}`;
      const bottom = `L${right},${toY + high} C${middle},${toY + high} ${middle},${fromY + high} ${left},${fromY + high} Z`;
      return html`<path key=${key} class="band" d=${`${top} ${bottom}`} />`;
    })}
    ${sources.map((bar) => html`<${End} key=${bar.name} bar=${bar} x=${0} />`)}
    ${targets.map((bar) => html`<${End} key=${bar.name} bar=${bar} x=${right} isTarget=${true} />`)}
  </svg>`;
}

interface EndProps {
  readonly bar: Bar;
  readonly x: number;
  readonly isTarget?: boolean;
}

/** The name stands above its bar, where no band passes. */
function End({ bar: { name, y, height }, x, isTarget = false }: EndProps) {
  return html`<rect class="stop" x=${x} y=${y} width=${barWidth} height=${Math.max(height, 1)} />
    <text x=${isTarget ? width : 0} y=${y - 8} text-anchor=${isTarget ? 'end' : 'start'}>${wordOf(name)}</text>`;
}
