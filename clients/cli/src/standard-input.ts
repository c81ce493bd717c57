import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InterruptedError, UsageError, type Context } from './command.ts';

const BYTES_MAX = 8 * 1024 ** 3;

export interface StoredInput {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Stores standard input in a private temporary file. Some formats, such as MP4, can't be read from a pipe, and the
 * length must be known before anything is charged.
 */
export async function storeStandardInput({
  stdin,
  interrupted: signal,
}: Pick<Context, 'stdin' | 'interrupted'>): Promise<StoredInput> {
  if (stdin.isTTY === true) {
    throw new UsageError(
      '"-" reads a file from standard input. Pipe one: cat a.mp3 | svc transcribe -',
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-stdin-'));
  const path = join(folder, 'input');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(stdin, atMost(BYTES_MAX), createWriteStream(path, { mode: 0o600 }), {
      signal,
    });
    return { path, remove };
  } catch (error) {
    await remove();
    throw signal.aborted ? new InterruptedError() : error;
  }
}

function atMost(bytesMax: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.length;
      if (bytes > bytesMax) done(new UsageError('Standard input is larger than 8 GiB.'));
      else done(null, piece);
    },
  });
}
