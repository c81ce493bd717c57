import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';

/** Makes the primary unavailable. Returns a function that restores its host. */
export type Fault = (input: { cluster: Cluster; primary: Member }) => Promise<() => Promise<void>>;

export const FAULTS = {
  /** kill -9 of the postmaster. */
  kill: async ({ primary }) => {
    await primary.killPostmaster();
    return async () => {};
  },
  'host-death': async ({ primary }) => {
    await primary.host.setLink('down');
    await primary.host.killAll();
    return async () => {
      await primary.host.setLink('up');
      await primary.start();
    };
  },
  /** Isolates the primary from every other host. */
  partition: async ({ primary }) => {
    await primary.host.setLink('down');
    return () => primary.host.setLink('up');
  },
  /** Clients still reach the old primary, which must not acknowledge any commit. */
  split: async ({ cluster, primary }) => {
    const others = cluster.members.filter((member) => member !== primary).map(({ host }) => host);
    await primary.host.setPathTo(others, 'down');
    return () => primary.host.setPathTo(others, 'up');
  },
  'frozen-patroni': async ({ primary }) => {
    primary.signalPatroni('SIGSTOP');
    return async () => primary.signalPatroni('SIGCONT');
  },
  switchover: async ({ cluster, primary }) => {
    await cluster.switchOver(primary);
    return async () => {};
  },
} as const satisfies Record<string, Fault>;
