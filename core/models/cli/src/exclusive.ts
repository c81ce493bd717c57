import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';

/**
 * Runs `work` unless another process is doing so for the same folder; then returns null. The lock is a socket without a
 * file, which the kernel frees even if the process is killed. Systems without such sockets have no lock.
 */
export async function exclusively<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result | null> {
  if (process.platform !== 'linux') return work();
  const name = createHash('sha256').update(resolve(folder)).digest('hex');
  const lock = createServer().listen(`\0svc-models-${name}`);
  try {
    await once(lock, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return null;
    throw error;
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}
