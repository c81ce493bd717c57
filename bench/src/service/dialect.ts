import { CHUNK_SAMPLES, type AsrSession, type ServerEvent } from '@svc-asr/protocol';
import { WebSocket } from 'ws';

/** What a server said, whichever server it is. */
export type Heard =
  | { readonly kind: 'ready' }
  /** `samples`: how much audio of the stream must have been sent before this could be said. */
  | { readonly kind: 'delta'; readonly samples: number }
  | { readonly kind: 'final'; readonly text: string }
  | { readonly kind: 'other' };

/** How to speak to a recognition server, so that the same clients can speak to ours and to a peer. */
export interface Dialect {
  connect(url: string, session: AsrSession | null): WebSocket;
  encode(pcm: Uint8Array): Uint8Array;
  readonly endOfSpeech: string;
  hear(message: string, count: number): Heard;
}

const OPTIONS = { perMessageDeflate: false, skipUTF8Validation: true };

const ours: Dialect = {
  connect: (url, session) => new WebSocket(url, [...(session?.websocket_protocols ?? [])], OPTIONS),
  encode: (pcm) => pcm,
  endOfSpeech: '{"type":"flush"}',
  hear(message) {
    const event: ServerEvent = JSON.parse(message);
    if (event.type === 'ready') return { kind: 'ready' };
    if (event.type === 'delta') return { kind: 'delta', samples: event.audio_ms * 16 };
    return event.type === 'final' ? { kind: 'final', text: event.text } : { kind: 'other' };
  },
};

/** The first decode of a bare stream needs this much; then it decodes after every chunk and sends a message each time. */
const FIRST_DECODE_SAMPLES = 20_800;

/** sherpa-onnx's own server: float samples in, JSON with the text so far out, "Done" and "Done!" at the end. */
const sherpa: Dialect = {
  connect: (url) => new WebSocket(url, OPTIONS),
  encode(pcm) {
    const samples = new Int16Array(Uint8Array.from(pcm).buffer);
    return new Uint8Array(Float32Array.from(samples, (sample) => sample / 32_768).buffer);
  },
  endOfSpeech: 'Done',
  hear(message, count) {
    // What it understood is not compared here, only what it costs.
    if (message === 'Done!') return { kind: 'final', text: '' };
    return { kind: 'delta', samples: FIRST_DECODE_SAMPLES + count * CHUNK_SAMPLES };
  },
};

export const DIALECTS = { ours, sherpa } as const;
