import type { IncomingMessage } from 'node:http';
import type { Limits } from './config.ts';
import { Refusal } from './refusal.ts';

const TOO_SLOW = new Refusal({
  status: 408,
  code: 'request_timeout',
  message: 'The request body stopped arriving. Send it again.',
  retryAfterMs: 1_000,
});

/** A body that arrives more slowly than this on average only holds its slot. A thin line of a telephone is faster. */
const BYTES_PER_MS_MIN = 2;
const GRACE_MS = 10_000;

const CUT = new Refusal({
  status: 400,
  code: 'request_incomplete',
  message: 'The connection ended before the whole request had arrived. Send it again.',
});

/**
 * Yields a request's body at the reader's pace. Throws if it is too large, stops arriving or hardly arrives. If the reader stops early,
 * the rest of the body is discarded: the response goes over the same connection.
 */
export async function* readBody(
  request: IncomingMessage,
  limits: Pick<Limits, 'bodyBytes' | 'idleMs'>,
): AsyncGenerator<Buffer, void> {
  const { bodyBytes, idleMs } = limits;
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const received: Buffer[] = [];
  let changed = Promise.withResolvers<void>();
  const onData = (bytes: Buffer): void => {
    received.push(bytes);
    request.pause();
    changed.resolve();
  };
  const onClose = (): void => changed.resolve();
  request.on('data', onData).on('end', onClose).on('close', onClose);
  let total = 0;
  let waitedMs = 0;
  try {
    for (;;) {
      const bytes = received.shift();
      if (bytes !== undefined) {
        total += bytes.byteLength;
        if (total > bodyBytes) throw tooLarge(bodyBytes);
        yield bytes;
        continue;
      }
      if (request.readableEnded) return;
      if (request.destroyed) throw CUT;
      changed = Promise.withResolvers<void>();
      request.resume();
      const beganMs = performance.now();
      const leftMs = Math.min(GRACE_MS, idleMs) + total / BYTES_PER_MS_MIN - waitedMs;
      await withTimeout(changed.promise, Math.min(idleMs, leftMs));
      waitedMs += performance.now() - beganMs;
    }
  } finally {
    request.off('data', onData).off('end', onClose).off('close', onClose);
    request.resume();
  }
}

function tooLarge(bytes: number): Refusal {
  return new Refusal({
    status: 413,
    code: 'request_too_large',
    message: `The request is larger than ${bytes / 1_000_000} MB. Send compressed audio, or split it.`,
    param: 'file',
  });
}

async function withTimeout(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(TOO_SLOW), ms);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
