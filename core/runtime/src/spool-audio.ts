import { randomUUID } from 'node:crypto';
import { constants, open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxUser } from './audio-sandbox.ts';

/** A temporary file without a name. */
export interface SpooledFile {
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/** Where a file's bytes count. */
export interface Room {
  /** Asked before the bytes are written. Throws if there is no room for them. */
  take(bytes: number): void;
  /** The file is gone. */
  giveAll(): void;
}

/**
 * Writes audio to a temporary file. The file has no name: it is removed right after it was created, so the system frees
 * it when the handle is closed or the process ends, however it ends.
 */
export async function spool(source: AsyncIterable<Uint8Array>, room: Room): Promise<SpooledFile> {
  const path = join(tmpdir(), `svc-audio-${randomUUID()}`);
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const handle = await open(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  const close = async (): Promise<void> => {
    await handle.close();
    room.giveAll();
  };
  try {
    await unlink(path);
    if (sandboxUser !== null) await handle.chown(sandboxUser, sandboxUser);
    for await (const bytes of source) {
      room.take(bytes.byteLength);
      await handle.writeFile(bytes);
    }
    return { handle, close };
  } catch (error) {
    await close();
    throw error;
  }
}
