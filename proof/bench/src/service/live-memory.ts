import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Launch options that allow reading the heap size over Node's inspector. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

interface HeapUsage {
  readonly usedSize: number;
  /** Buffers outside the heap. */
  readonly backingStorageSize: number;
}

/** Objects on the heap, and buffers outside of it, such as audio. */
export interface LiveMemory {
  readonly heapKib: number;
  readonly buffersKib: number;
}

export async function liveKib(service: ServiceProcess): Promise<number> {
  const { heapKib, buffersKib } = await liveMemory(service);
  return heapKib + buffersKib;
}

/** Returns the memory in use after a collection, because resident memory depends on the collector. */
export async function liveMemory(service: ServiceProcess): Promise<LiveMemory> {
  const url = service.lines.map((line) => /listening on (ws:\S+)/.exec(line)?.[1]).find(Boolean);
  if (url === undefined) throw new Error('The service was not launched with an inspector.');
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  // Collect twice: the second frees what the first finalised.
  await ask(socket, 'HeapProfiler.collectGarbage');
  await ask(socket, 'HeapProfiler.collectGarbage');
  const { result } = await ask(socket, 'Runtime.getHeapUsage');
  socket.terminate();
  return {
    heapKib: Math.round(result.usedSize / 1024),
    buffersKib: Math.round(result.backingStorageSize / 1024),
  };
}

/** Sends one request at a time. No domain is enabled, so there are no events. */
async function ask(socket: WebSocket, method: string): Promise<{ result: HeapUsage }> {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ id: 1, method }));
  const [message]: Buffer[] = await answered;
  return JSON.parse(String(message));
}
