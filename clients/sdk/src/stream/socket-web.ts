import type { Connect } from './socket.ts';

/** Uses the platform's WebSocket: browsers, workers, Deno and Bun. */
export const connect: Connect = (address, handlers) => {
  const socket = new WebSocket(address.url, [...address.protocols]);
  socket.binaryType = 'arraybuffer';
  let over = false;
  const onOffline = (): void => handlers.onOffline();
  // Browsers and workers have this event.
  const hasEvents = 'addEventListener' in globalThis;
  if (hasEvents) globalThis.addEventListener('offline', onOffline);
  const end = (code: number, reason: string): void => {
    if (over) return;
    over = true;
    if (hasEvents) globalThis.removeEventListener('offline', onOffline);
    handlers.onEnd({ code, reason, refusal: null });
  };
  socket.addEventListener('open', () => handlers.onOpen());
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!over && typeof data === 'string') handlers.onText(data);
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
