import { SvcClient } from '@svc-asr/sdk';
import { AudioConverter } from '@svc-asr/sdk/audio';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { WebSocketServer, type WebSocket } from 'ws';

/** A media frame of a phone call in Twilio's format: JSON with 20 ms of base64-encoded 8 kHz mu-law audio. */
type Frame =
  | { event: 'start'; start: { callSid: string } }
  | { event: 'media'; media: { payload: string } }
  | { event: 'stop' }
  | { event: 'connected' | 'mark' | 'dtmf' };

const FRAME_BYTES_MAX = 64 * 1024;

const client = new SvcClient(); // SVC_BASE_URL and SVC_API_KEY

function answerCall(socket: WebSocket): void {
  const telephone = new AudioConverter({ encoding: 'mulaw', sampleRateHz: 8_000 });
  let call: { sid: string; stream: SvcStream } | null = null;

  function onFrame(frame: Frame): void {
    switch (frame.event) {
      case 'start':
        call ??= { sid: frame.start.callSid, stream: openCall(frame.start.callSid, socket) };
        return;
      case 'media':
        // A call can't be slowed down, so unsent audio is buffered in the stream.
        void call?.stream.write(telephone.push(Buffer.from(frame.media.payload, 'base64')));
        return;
      case 'stop':
        void call?.stream.write(telephone.end());
        void call?.stream.finish().catch(() => {});
        return;
      case 'connected':
      case 'mark':
      case 'dtmf':
        return;
    }
  }
  socket.on('message', (data: Buffer) => {
    try {
      onFrame(JSON.parse(data.toString('utf8')));
    } catch {
      socket.close(1007, 'Not a media frame.');
    }
  });
  // Without a listener, one caller's malformed WebSocket frame would crash the process and end every call.
  socket.on('error', () => socket.terminate());
  socket.on('close', () => void call?.stream.close());
}

function openCall(callSid: string, socket: WebSocket): SvcStream {
  const stream = openStream({
    getSession: ({ signal }) =>
      client.sessions.create({ model: 'svc-asr-dholuo-v1', maxAudioSeconds: 300 }, { signal }),
  });
  const tell = (event: object): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ callSid, ...event }));
  };
  stream.on('delta', ({ text }) => tell({ event: 'interim', text }));
  stream.on('final', ({ text, start_ms, end_ms }) =>
    tell({ event: 'final', text, start_ms, end_ms }),
  );
  stream.on('close', ({ reason }) => {
    tell({ event: 'ended', reason });
    socket.close();
  });
  return stream;
}

const server = new WebSocketServer({
  host: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3001),
  maxPayload: FRAME_BYTES_MAX,
});
server.on('connection', answerCall);
server.on('listening', () => {
  const address = server.address();
  console.log(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
});
