import type { Connect } from './socket.ts';

/** Uses the platform's WebSocket: browsers, workers, Deno and Bun. */
export const connect: Connect = (address, handlers) => {
  const socket = new WebSocket(address.url, [...address.protocols]);
  const over = new AbortController();
  const { signal } = over;
  const end = (code: number, reason: string): void => {
    if (signal.aborted) return;
    over.abort();
    handlers.onEnd({ code, reason, refusal: null });
  };
  // Browsers and workers have this event.
  if ('addEventListener' in globalThis) {
    globalThis.addEventListener('offline', () => handlers.onOffline(), { signal });
  }
  socket.addEventListener('open', () => handlers.onOpen());
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!signal.aborted && typeof data === 'string') handlers.onText(data);
  });
  // `close` follows with the details. Without a listener some platforms report an uncaught error.
  socket.addEventListener('error', () => {});
  socket.addEventListener('close', ({ code, reason }) => end(code, reason));
  return {
    send(data) {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    close: () => socket.close(1000),
    drop() {
      end(1006, '');
      socket.close();
    },
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
  };
};
