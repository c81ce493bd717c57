import type { Log } from '@svc-asr/server/platform/observe/log.ts';
import type { Pool, Queryable } from '@svc-asr/server/platform/database/db.ts';
import type { VirtualNetwork } from '../virtual/network.ts';
import type { VirtualProcess } from '../virtual/process.ts';
import type { Random } from '../virtual/random.ts';
import type { Trace } from '../virtual/trace.ts';

/** What every simulated process gets from its world. */
export interface Surroundings {
  readonly network: VirtualNetwork;
  readonly log: Log;
  readonly trace: Trace;
  /** An independent source of randomness by name. */
  randomOf(name: string): Random;
  openPool(
    owner: VirtualProcess,
    options: {
      readonly name: string;
      readonly connections: number;
      readonly verify?: (db: Queryable) => Promise<void>;
    },
  ): Pool;
}
