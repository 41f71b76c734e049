import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Mode } from './cluster.ts';
import { type ServerNumber, serverNumbers } from './settings.ts';

export interface Fault {
  readonly name: string;
  readonly does: string;
  /** Begins it, and returns when what was broken is back. */
  run(cluster: Cluster, leader: ServerNumber): Promise<void>;
}

/** How long the old primary stays as it is once another one leads. */
const overlapMillis = 3_000;

/** In asynchronous mode the standbys receive nothing for `lagMillis` before a kill. */
export function faultsOf({
  mode,
  lagMillis,
}: {
  readonly mode: Mode;
  readonly lagMillis: number;
}): readonly Fault[] {
  return [kill(mode === 'async' ? lagMillis : 0), ...others];
}

function kill(lagMillis: number): Fault {
  return {
    name: 'kill',
    does: 'kill -9 of Patroni and PostgreSQL of the primary',
    async run(cluster, leader) {
      const { patroni } = cluster.server(leader);
      const postmaster = await cluster.postmasterOf(leader);
      const standbys = lagMillis > 0 ? serverNumbers.filter((server) => server !== leader) : [];
      for (const standby of standbys) await cluster.signalReceiver(standby, 'SIGSTOP');
      await sleep(lagMillis);
      process.kill(postmaster, 'SIGKILL');
      await patroni.kill();
      for (const standby of standbys) await cluster.signalReceiver(standby, 'SIGCONT');
      await cluster.untilAnotherLeads(leader);
      patroni.start();
    },
  };
}

const others: readonly Fault[] = [
  {
    name: 'freeze',
    does: 'every process of the primary and its Patroni stands still until another one leads, and goes on',
    run: (cluster, leader) => standStill(cluster, leader, false),
  },
  {
    name: 'pause',
    does: 'the Patroni of the primary stands still until another one leads; its PostgreSQL goes on',
    run: (cluster, leader) => standStill(cluster, leader, true),
  },
  {
    name: 'etcd',
    does: 'kill -9 of the etcd that leads, which starts again after three seconds',
    async run(cluster) {
      const { etcd } = cluster.server(await cluster.etcdLeader());
      await etcd.kill();
      await sleep(overlapMillis);
      etcd.start();
    },
  },
  {
    name: 'switch-over',
    does: 'a planned switch-over to the synchronous standby',
    async run(cluster, leader) {
      await cluster.switchOver(leader, await cluster.successor());
      await cluster.untilAnotherLeads(leader);
    },
  },
];

async function standStill(cluster: Cluster, leader: ServerNumber, patroniOnly: boolean): Promise<void> {
  await cluster.signal(leader, 'SIGSTOP', patroniOnly);
  try {
    await cluster.untilAnotherLeads(leader);
    await sleep(overlapMillis);
  } finally {
    await cluster.signal(leader, 'SIGCONT', patroniOnly);
  }
}
