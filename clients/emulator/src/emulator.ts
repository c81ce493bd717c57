import { startLocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { checkNode } from './check-node.ts';
import type { Emulator, EmulatorOptions } from './emulator-api.ts';
import { startEmulatorOn } from './on-database.ts';

export type { Emulator, EmulatorOptions, ScriptedTurn } from './emulator-api.ts';
export {
  FAULTS,
  formatFault,
  parseFault,
  parseFaultFlag,
  type Fault,
  type FaultName,
  type Faults,
} from './faults.ts';

/** Starts the real server on a temporary PostgreSQL, with a scripted recogniser and faults on demand. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkNode();
  const postgres = await startLocalPostgres();
  try {
    await migrate({ url: postgres.url });
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return startEmulatorOn({ url: postgres.url, drop: () => postgres.stop() }, options);
}
