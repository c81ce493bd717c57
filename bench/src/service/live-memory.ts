import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ServiceProcess } from './service-process.ts';

/** Launch a service with this, and what it holds can be asked over Node's own inspector. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

interface HeapUsage {
  readonly usedSize: number;
  /** Buffers, outside the heap. */
  readonly backingStorageSize: number;
}

/** What it still holds once its garbage is gone: a resident set says more about the collector than about a leak. */
export async function liveKib(service: ServiceProcess): Promise<number> {
  const url = service.lines.map((line) => /listening on (ws:\S+)/.exec(line)?.[1]).find(Boolean);
  if (url === undefined) throw new Error('The service was not launched with an inspector.');
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  // What the first collection finalises, the second frees.
  await ask(socket, 'HeapProfiler.collectGarbage');
  await ask(socket, 'HeapProfiler.collectGarbage');
  const { result } = await ask(socket, 'Runtime.getHeapUsage');
  socket.terminate();
  return Math.round((result.usedSize + result.backingStorageSize) / 1024);
}

/** One question at a time; nothing is enabled, so the inspector says nothing by itself. */
async function ask(socket: WebSocket, method: string): Promise<{ result: HeapUsage }> {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ id: 1, method }));
  const [message]: Buffer[] = await answered;
  return JSON.parse(String(message));
}
