import { randomUUID } from 'node:crypto';
import { constants, open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxUser } from './sandbox.ts';

/**
 * Writes audio to a temporary file. The file has no name: it is removed right after it was created, so the system frees
 * it when the handle is closed or the process ends, however it ends.
 */
export async function spool(source: AsyncIterable<Uint8Array>): Promise<FileHandle> {
  const path = join(tmpdir(), `svc-compatible-${randomUUID()}`);
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const handle = await open(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  try {
    await unlink(path);
    if (sandboxUser !== null) await handle.chown(sandboxUser, sandboxUser);
    for await (const bytes of source) await handle.writeFile(bytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
