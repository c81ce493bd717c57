import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@svc-asr/local/child-process.ts';

const MAIN = fileURLToPath(new URL('./mover-main.ts', import.meta.url));

/** Points where a mover can be killed: before each step, and in the middle of the copy. */
export const KILL_POINTS = [
  'freeze',
  'drain',
  'copy',
  'copying',
  'switch',
  'open',
  'done',
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

export interface MoverOrder {
  readonly sourceUrl: string;
  readonly targetUrl: string;
  readonly accountId: string;
  readonly targetCell: string;
  readonly drainMs: number;
  /** Null: it is not killed. */
  readonly killBefore: KillPoint | null;
}

/** Runs a mover in its own process. Returns how it ended: `done` or `killed`. */
export async function runMover(order: MoverOrder): Promise<'done' | 'killed'> {
  const mover = spawn(process.execPath, [MAIN, JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  killOnExit(mover);
  let said = '';
  mover.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  const [code, signal] = await once(mover, 'close');
  if (signal === 'SIGKILL') return 'killed';
  if (code === 0) return 'done';
  throw new Error(`The mover failed: ${said}`);
}
