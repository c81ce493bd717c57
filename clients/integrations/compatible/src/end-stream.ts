import type { SvcStream } from '@svc-asr/sdk/stream';

const notReady = new WeakSet<SvcStream>();

/** Call it for every new stream, before its first event. */
export function watchReady(stream: SvcStream): void {
  notReady.add(stream);
  stream.on('ready', () => notReady.delete(stream));
}

/**
 * Ends a stream whose client has left. Everything that ends a stream early uses it: a session that is not open yet would
 * stay reserved for a minute, and its account refused, so it is closed as soon as it opens. No audio is sent before that.
 */
export async function endStream(stream: SvcStream): Promise<void> {
  if (!notReady.has(stream)) await stream.close();
  else {
    stream.on('ready', () => void stream.close());
    await stream.closed;
  }
}
