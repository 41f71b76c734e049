/** Ways in which a core and its connector fail in practice. Each can be switched while it runs. */
export const faults = {
  away: 'the connector sends nothing; the core goes on',
  slow: 'each request is sent up to two seconds late',
  rejects: 'the core refuses every third instruction',
  'answers-lost': 'every second answer of the service is lost, after the service did its work',
  duplicates: 'lines and outcomes are sent twice, and instructions come twice',
  'out-of-order': 'lines are shuffled, and echoes come before their outcomes',
  loses: 'the connector loses every third posting; only a comparison of both books finds it',
  dies: 'the process ends in the middle of the next file or delivery, as by kill -9',
} as const;

export type Fault = keyof typeof faults;

export const faultNames = Object.keys(faults) as Fault[];

export class Switches {
  readonly #on = new Set<Fault>();

  isOn(fault: Fault): boolean {
    return this.#on.has(fault);
  }

  set(fault: Fault, isOn: boolean): void {
    if (isOn) this.#on.add(fault);
    else this.#on.delete(fault);
  }

  toJSON(): Record<string, boolean> {
    return Object.fromEntries(faultNames.map((name) => [name, this.isOn(name)]));
  }
}

/** No handler runs, nothing is flushed. */
export function dieNow(): void {
  process.kill(process.pid, 'SIGKILL');
}
